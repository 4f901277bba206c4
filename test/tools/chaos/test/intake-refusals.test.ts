import { describe, expect, it } from '@jest/globals'
import { judgeIntake } from '../intake.ts'
import type { Posted } from '../ledger.ts'

const posted = (answer: Posted['answer'], at: number): Posted => ({
  ...{ collector: 'c1', messages: 1, at, endedAt: at + 10, answer },
  retryAfter: answer === 503 ? '5' : undefined,
})
const outage = { what: 'link torn', at: 10_000, from: 20_000, recoveredAt: 25_000, victims: [] }
const accepted = [posted(200, 9_000), posted(200, 20_100)]

describe('the verdict on refusals in an outage', () => {
  it.each<[name: string, posted: readonly Posted[], failures: readonly RegExp[]]>([
    ['there need be none', accepted, []],
    ['there may be some until everything is delivered again', [...accepted, posted(503, 24_000)], []],
    ['not before', [posted(503, 9_500), ...accepted], [/^answered 503 without a reason: 1 requests/]],
    ['not after', [...accepted, posted(503, 25_000)], [/^answered 503 without a reason: 1 requests/]],
  ])('%s', (_, all, failures) => {
    const judged = judgeIntake({
      limits: { refusals: 'possible_in_outages', broken: 'none', answerMs: 1_000, acceptedMs: 5_000, peakMb: 300 },
      patience: 1,
      posted: all,
      injected: [outage],
      seen: { looks: [], peakMb: new Map() },
    })
    expect(judged.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })
})
