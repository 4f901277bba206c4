import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../src/core/delivery/dead-letter-record.ts'
import { initialState } from '../../src/core/delivery/delivery-state.ts'
import type { DeadLetterReason } from '../../src/core/delivery/outcome.ts'
import type { LogRecord, OutgoingRecord } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/units.ts'
import { runCommand } from '../support/process/command-io.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'

let installation: TestInstallation
/** The dead-lettered events, as records of their topic. */
let events: readonly LogRecord[]

beforeAll(async () => {
  installation = await startInstallation({})
  await installation.send(trackEvents(4))
  events = (await installation.read(installation.topics.events)).toSorted((a, b) => userOf(a).localeCompare(userOf(b)))
})
afterAll(() => installation.close())

const userOf = ({ key }: LogRecord): string => key?.toString() ?? ''
const event = (n: number): LogRecord => events[n] as LogRecord
const messageId = (n: number): string => `m-${n}`

function givenUp(
  n: number,
  destination: string,
  reason: DeadLetterReason,
  outcomes: string,
  round = 0,
): OutgoingRecord {
  const record = event(n)
  const first = initialState(record, destination, messageId(n), record.timestamp, durationMs(14_400_000))
  return deadLetterRecord(record, { ...first, attempt: 1, outcomes, round }, reason)
}
const replayedTombstone = ({ key }: OutgoingRecord): OutgoingRecord => ({ key, value: null, headers: {} })

/** Writes records one after the other, like a dispatcher and a replay. */
async function write(...records: readonly OutgoingRecord[]): Promise<void> {
  for (const record of records) await installation.write(installation.topics.deadLetter, [record])
}

async function list(...argv: readonly string[]) {
  const { code, out, err } = await runCommand(
    ['dead-letters', '--config', installation.configFile, '--json', ...argv],
    {
      env: process.env as Record<string, string>,
    },
  )
  const lines = out.split('\n').filter(Boolean)
  return { code, err, listed: lines.map(line => JSON.parse(line) as Record<string, unknown> & { event: unknown }) }
}
const idsOf = ({ listed }: Awaited<ReturnType<typeof list>>): unknown[] =>
  listed.map(({ destination, messageId }) => `${destination ?? '-'} ${messageId ?? '-'}`).sort()

describe('dead letters on a real broker', () => {
  it('lists nothing at first', async () => {
    expect(await list()).toEqual({ code: 0, err: 'no dead letters\n', listed: [] })
  })

  it('are listed once with event and origin, however often they were written', async () => {
    const crm = givenUp(0, 'crm', 'http_4xx', 'http_4xx,http_5xx')
    // Dead-lettered twice: the first process died before it committed the offset.
    await write(
      crm,
      givenUp(0, 'shop', 'retries_exhausted', 'http_5xx'),
      givenUp(1, 'crm', 'tls_untrusted', 'tls_untrusted'),
      crm,
    )
    const all = await list()
    expect(idsOf(all)).toEqual(['crm m-0', 'crm m-1', 'shop m-0'])
    expect(all.err).toBe('3 dead letters: http_4xx 1, retries_exhausted 1, tls_untrusted 1\n')
    // The last write counts, so this dead letter is now the newest.
    expect(all.listed.at(-1)).toMatchObject({
      key: `crm/${installation.topics.events}/${event(0).partition}/${event(0).offset}/${event(0).timestamp}/0`,
      destination: 'crm',
      reason: 'http_4xx',
      outcomes: ['http_4xx', 'http_5xx'],
      messageId: 'm-0',
      attempts: 1,
      origin: { topic: installation.topics.events, partition: event(0).partition, offset: event(0).offset },
      event: { sourceId: 'web', canonical: true, message: { type: 'track', messageId: 'm-0', userId: 'user-0' } },
    })
  })

  it('disappear when replayed, and are listed again when the replay fails', async () => {
    await write(
      replayedTombstone(givenUp(1, 'crm', 'tls_untrusted', '')),
      replayedTombstone(givenUp(0, 'crm', 'http_4xx', '')),
    )
    expect(idsOf(await list())).toEqual(['shop m-0'])
    await write(givenUp(1, 'crm', 'retries_exhausted', 'timeout', 1))
    expect(idsOf(await list())).toEqual(['crm m-1', 'shop m-0'])
  })

  it('are found by each filter', async () => {
    await write(
      deadLetterRecord({ ...event(2), value: Buffer.from('no avro') }, undefined, 'undecodable'),
      deadLetterRecord({ ...event(3), value: null }, undefined, 'undecodable'),
    )
    expect(idsOf(await list('--destination', '-'))).toEqual(['- -', '- -'])
    expect(idsOf(await list('--message-id', 'm-0'))).toEqual(['shop m-0'])
    expect(idsOf(await list('--outcome', 'http_5xx'))).toEqual(['shop m-0'])
    expect(idsOf(await list('--reason', 'undecodable', '--limit', '1'))).toEqual(['- -'])
    expect(idsOf(await list('--until', '1h'))).toEqual([])
    expect((await list('--since', '1h')).listed).toHaveLength(4)
    expect((await list('--reason', 'undecodable')).listed.map(each => each.event)).toEqual([null, null])
  })

  it('are shown by the real command as a table', async () => {
    const [titles, ...rows] = (await installation.command('dead-letters', '--message-id', 'm-0')).trimEnd().split('\n')
    expect(titles).toMatch(/^TIME +DESTINATION +REASON +OUTCOMES +MESSAGE +TYPE +ATTEMPTS +ORIGIN +KEY$/)
    expect(rows).toEqual([expect.stringMatching(/ shop +retries_exhausted +http_5xx +m-0 +track +1 /)])
  })
})
