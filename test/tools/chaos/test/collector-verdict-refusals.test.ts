import { describe, expect, it } from '@jest/globals'
import { judgeIntake } from '../collector-verdict.ts'
import type { Posted } from '../message-ledger.ts'

const posted = (answer: Posted['answer'], at: number): Posted => ({
  ...{ collector: 'c1', messages: 1, at, endedAt: at + 10, answer },
  retryAfter: answer === 503 ? '5' : undefined,
})
const outage = { what: 'link torn', at: 10_000, from: 20_000, recoveredAt: 25_000, victims: [] }
const accepted = [posted(200, 9_000), posted(200, 20_100)]

describe('the verdict on refusals in an outage', () => {
  it.each<[name: string, posted: readonly Posted[], failures: readonly RegExp[]]>([
    ['permits an outage without a 503', accepted, []],
    ['permits a 503 until everything is delivered again', [...accepted, posted(503, 24_000)], []],
    ['fails a 503 before the outage', [posted(503, 9_500), ...accepted], [/^unexpected response 503: 1 requests/]],
    ['fails a 503 after the recovery', [...accepted, posted(503, 25_000)], [/^unexpected response 503: 1 requests/]],
  ])('%s', (_, all, failures) => {
    const judged = judgeIntake({
      limits: { refusals: 'possible_in_outages', broken: 'none', answerMs: 1_000, acceptedMs: 5_000, peakMb: 300 },
      patience: 1,
      posted: all,
      injected: [outage],
      seen: { looks: [], peakMb: new Map([['c1', 100]]) },
    })
    expect(judged.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })
})
