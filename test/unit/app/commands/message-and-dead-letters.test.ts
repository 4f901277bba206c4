import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { deadLetterView } from '../../../../src/core/operator/dead-letter-view.ts'
import type { MessageAndDeadLetterApi } from '../../../../src/core/operator/message-and-dead-letter-api.ts'
import { messageTimeline } from '../../../../src/core/operator/message-timeline.ts'
import { objectRefusal } from '../../../../src/core/operator/object-refusal.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { recordOf } from '../../../support/builders.ts'
import { writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'
import { objectsCommand } from '../../../support/operator/run-operator-api-commands.ts'
import {
  foundAttempt,
  foundEvent,
  foundRetryRecord,
  noPieces,
  start,
} from '../../../support/operator/timeline-input.ts'

const failed = foundAttempt({ decision: 'retried', outcomes: { 0: 'http_5xx' }, statuses: { 0: 503 } })
const known = messageTimeline({
  ...noPieces,
  events: [foundEvent({ destinations: ['ads', 'crm'], event: 'Order\u{1b}[2J' })],
  attempts: [failed],
  retryRecords: [foundRetryRecord({ attempt: 1, reason: 'http_5xx' })],
  isPartial: true,
})
const nothing = messageTimeline({ ...noPieces, id: 'm-2' })
/** Dead letters, newest first, in pages of two. */
const dead = [4, 3, 2, 1, 0].map(number => ({
  ...deadLetterView(
    parseDeadLetter(recordOf({ ...writtenDeadLetter(number), timestamp: epochMs(start + number) })),
    {},
  ),
  ...(number === 4 && { reason: 'http_4xx' }),
}))
const asked: object[] = []
/**
 * Responses to the next requests for dead letters. Afterwards, the API responds with pages of
 * `dead`.
 */
const answers: Awaited<ReturnType<MessageAndDeadLetterApi['deadLetters']>>[] = []
const log: MessageAndDeadLetterApi = {
  async message(query) {
    asked.push(query)
    return { kind: 'answered', body: query.id === 'm-1' ? known : nothing }
  },
  async deadLetters(query) {
    asked.push(query)
    const answer = answers.shift()
    if (answer !== undefined) return answer
    const [from = 0] = query.before ?? []
    const to = from + Math.min(2, query.limit)
    const next = to < dead.length ? { next: Buffer.from(to.toString(36)).toString('base64url') } : {}
    return { kind: 'answered', body: { deadLetters: dead.slice(from, to), ...next } }
  },
  deadLetter: () => Promise.reject(new Error('not asked')),
}
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeAll(async () => {
  installation = await objectsCommand({ log })
})
afterAll(() => installation.close())
const run = (...argv: string[]) => installation.run(argv)

describe('hookline message', () => {
  it('shows the event, the state at each destination and each attempt', async () => {
    const { code, out, err } = await run('message', 'm-1')
    expect(out.split('\n').map(line => line.trimEnd())).toEqual([
      'message m-1: track "Order\u{fffd}[2J" of source web, received 2026-03-01T00:00:00.000Z, hookline.events/0/7',
      '',
      'DESTINATION  STATE                 REASON    WAITING IN RETRY TOPIC             DEAD LETTER KEY',
      'ads          delivered (inferred)  -         -                                  -',
      'crm          waiting               http_5xx  10s, due 2026-03-01T00:00:10.000Z  -',
      '(inferred): no record shows the state. Hookline assumes "dropped" if the current configuration drops the event. Otherwise it assumes "delivered", because it has processed the event and recorded no failure',
      '',
      'TIME                      DESTINATION  ATTEMPT  WEBHOOK  OUTCOME   STATUS  MS  DECISION  REASON  NEXT ATTEMPT',
      '2026-03-01T00:00:00.000Z  crm          1        0        http_5xx  503     12  retried   -       -',
      '',
    ])
    expect(err).toBe(
      'hookline: the search is incomplete: only messages received since 2026-03-01T00:00:00.000Z were searched; for a complete search, set --since and --until to times shortly before and after the message\n',
    )
    expect(code).toBe(0)
  })

  it('prints the answer of the API with --json', async () => {
    expect(JSON.parse((await run('message', 'm-1', '--json')).out)).toEqual(JSON.parse(JSON.stringify(known)))
  })

  it('passes on the time range', async () => {
    await run('message', 'm-1', '--since', '2026-03-01T00:00:00Z', '--until', '2026-03-01T01:00:00Z')
    expect(asked.at(-1)).toEqual({ id: 'm-1', since: start, until: start + 3_600_000 })
  })

  it('fails when nothing is known, and says what was searched', async () => {
    expect(await run('message', 'm-2')).toMatchObject({
      code: 1,
      err: 'hookline: no record of message m-2 was found; only messages received since 2026-03-01T00:00:00.000Z were searched; to search another time span, use --since and --until\n',
    })
  })

  it('fails when the API refuses the time range', async () => {
    const { code, err } = await run('message', 'm-1', '--since', 'yesterday')
    expect([code, err]).toEqual([2, expect.stringContaining('--since: is neither a time nor a duration')])
  })
})

describe('hookline dead-letters --operator-url', () => {
  it('is not needed when HOOKLINE_OPERATOR_URL is set', async () => {
    const { code, out } = await run('dead-letters', '--limit', '1', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ key: dead[0]?.key })
  })

  it('lists all pages, oldest first, without a configuration', async () => {
    const { code, out, err } = await run('dead-letters', '--operator-url', installation.url, '--destination', 'crm')
    const [titles, ...rows] = out.trimEnd().split('\n')
    expect(titles).toMatch(/^TIME +DESTINATION +REASON/)
    expect(rows.map(row => row.split(/ {2,}/)[4])).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
    expect([code, err]).toEqual([0, '5 dead letters: retries_exhausted 4, http_4xx 1\n'])
    expect(asked.at(-1)).toMatchObject({ filter: { destination: 'crm' } })
  })

  it('passes on the time range, also 1970-01-01, which is 0', async () => {
    const times = ['--since', '1970-01-01', '--until', '2026-03-01T00:00:00Z']
    const { code, err } = await run('dead-letters', ...times, '--limit', '1')
    expect([code, err]).toEqual([0, expect.stringContaining('1 dead letter shown')])
    expect(asked.at(-1)).toMatchObject({ filter: { since: 0, until: start } })
  })

  it('says that the list may be wrong when the last page is partial', async () => {
    answers.push({ kind: 'answered', body: { deadLetters: dead.slice(0, 1), partial: true } })
    const { code, err } = await run('dead-letters', '--operator-url', installation.url)
    expect([code, err]).toEqual([
      0,
      '1 dead letter: http_4xx 1\nhookline: the list may include dead letters that were already replayed, because the operator service cannot keep the keys of all replayed dead letters in memory\n',
    ])
  })

  it('repeats a page that the operator service could not read, at most three times', async () => {
    const unavailable = objectRefusal('unavailable', 'send the request again later')
    answers.push(unavailable, unavailable)
    const argv = ['dead-letters', '--operator-url', installation.url, '--limit', '1'] as const
    expect(await run(...argv)).toMatchObject({ code: 0 })
    answers.push(unavailable, unavailable, unavailable, unavailable)
    expect(await run(...argv)).toMatchObject({ code: 1, err: expect.stringContaining('unavailable') })
    expect(answers.splice(0)).toEqual([])
  })

  it('lists only the newest with --limit', async () => {
    const { out, err } = await run('dead-letters', '--operator-url', installation.url, '--limit', '3', '--json')
    const ids = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).messageId)
    expect([ids, err]).toEqual([
      ['m2', 'm3', 'm4'],
      '3 dead letters shown: retries_exhausted 2, http_4xx 1; there may be older dead letters: to list them, increase --limit\n',
    ])
  })
})
