import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../src/core/delivery/dead-letter-record.ts'
import { initialState, parseDeliveryState } from '../../src/core/delivery/delivery-state.ts'
import type { LogRecord, OutgoingRecord } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/units.ts'
import { until } from '../support/kafka/admin.ts'
import { runCommand } from '../support/process/command-io.ts'
import { startInstallation, type TestInstallation } from '../support/process/test-installation.ts'

const window = durationMs(4 * 3_600_000)
const destinations = ['crm', 'shop'].map(id => ({
  id,
  sources: ['web'],
  webhooks: [{ url: `https://${id}.example.com/` }],
}))

let installation: TestInstallation
let firstTier: string
beforeAll(async () => {
  installation = await startInstallation({ destinations })
  firstTier = installation.topics.retry(durationMs(10_000))
})
afterAll(() => installation.close())

async function replay(argv: readonly string[], signal?: AbortSignal) {
  const { code, out, err } = await runCommand(['replay', '--config', installation.configFile, '--json', ...argv], {
    env: process.env as Record<string, string>,
    ...(signal && { signal }),
  })
  return { code, err, ...(JSON.parse(out) as { total: number; selected: number; replayed: number }) }
}

/** Writes events to the events topic, and returns their records. */
async function events(...records: readonly Partial<OutgoingRecord>[]): Promise<readonly LogRecord[]> {
  const { topics } = installation
  const before = (await installation.read(topics.events)).length
  for (const each of records)
    await installation.write(topics.events, [
      { key: null, value: Buffer.from('event'), headers: {}, partition: 1, ...each },
    ])
  return (await installation.read(topics.events)).filter(({ partition }) => partition === 1).slice(before)
}

function givenUp(record: LogRecord, destination: string, messageId: string): OutgoingRecord {
  const first = initialState(record, destination, messageId, record.timestamp, window)
  return deadLetterRecord(record, { ...first, attempt: 10, outcomes: 'http_5xx' }, 'retries_exhausted')
}

const offsetsOf = async (...topics: readonly string[]): Promise<number[]> =>
  Promise.all(topics.map(async topic => (await installation.read(topic)).length))

describe('dead letters on a real broker', () => {
  it('are replayed once to the right topic, with the same bytes and keys', async () => {
    const { topics } = installation
    const trace = { traceparent: '00-ab-cd-01' }
    const key = Buffer.from([0, 0x7f, 0x80, 0xff])
    const given = [
      { key, value: Buffer.from([0, 255, 1]), headers: trace },
      { key: Buffer.from('no-avro'), value: Buffer.from('no avro'), headers: trace },
      { key: Buffer.from('nothing'), value: null },
      { key: null, value: Buffer.alloc(0) },
    ]
    const [delivery, undecodable, nothing, empty] = (await events(...given)) as [
      LogRecord,
      LogRecord,
      LogRecord,
      LogRecord,
    ]
    await installation.write(topics.deadLetter, [
      givenUp(delivery, 'crm', 'm-1'),
      givenUp(delivery, 'shop', 'm-1'),
      givenUp(delivery, 'gone', 'm-1'),
      ...[undecodable, nothing, empty].map(record => deadLetterRecord(record, undefined, 'undecodable')),
    ])

    const all = [topics.events, topics.deadLetter, firstTier]
    const before = await offsetsOf(...all)
    expect(await replay(['--dry-run'])).toMatchObject({ code: 0, total: 6, selected: 6, replayed: 0 })
    expect(await offsetsOf(...all)).toEqual(before)

    expect(await replay(['--destination', 'crm'])).toMatchObject({ code: 0, total: 6, selected: 1, replayed: 1 })
    const [copy, ...more] = await installation.read(firstTier)
    expect(more).toEqual([])
    expect(copy).toMatchObject({ key, value: delivery.value, headers: trace })
    const now = Number(copy?.headers['started-at'])
    const first = initialState(delivery, 'crm', 'm-1', now as never, window)
    expect(parseDeliveryState(copy?.headers ?? {})).toEqual({ ...first, round: 1 })
    expect(Math.abs((copy?.timestamp ?? 0) - now)).toBeLessThan(60_000)

    expect(await replay(['--reason', 'undecodable'])).toMatchObject({ code: 0, total: 5, selected: 3, replayed: 3 })
    const copies = (await installation.read(topics.events)).filter(({ headers }) => 'replay-of' in headers)
    const placeOf = ({ topic, partition, offset, timestamp }: LogRecord) =>
      `${topic}/${partition}/${offset}/${timestamp}`
    for (const original of [undecodable, nothing, empty])
      expect(copies).toContainEqual({
        ...original,
        offset: expect.any(Number),
        timestamp: expect.any(Number),
        headers: { ...original.headers, 'replay-of': placeOf(original) },
      })
    expect(copies).toHaveLength(3)

    // The dead letter of the removed destination is not replayed.
    expect(await replay([])).toMatchObject({ code: 1, total: 2, selected: 2, replayed: 1 })
    expect(await replay([])).toMatchObject({ code: 1, total: 1, selected: 1, replayed: 0 })
    expect(await installation.command('dead-letters')).toMatch(/ gone +retries_exhausted /)
    expect((await installation.read(firstTier)).map(({ headers }) => headers['destination']).toSorted()).toEqual([
      'crm',
      'shop',
    ])
  })

  it('stops on a signal; a second run replays the rest, and none twice', async () => {
    const [record] = await events({ key: Buffer.from('user') })
    // Each dead letter has a different event id.
    const deadLetters = Array.from({ length: 2_000 }, (_, n) =>
      givenUp({ ...record!, offset: record!.offset + n }, 'crm', `many-${n}`),
    )
    await installation.write(installation.topics.deadLetter, deadLetters)
    const ids = async () =>
      (await installation.read(firstTier)).flatMap(({ headers }) => headers['message-id']?.match(/^many-.*/)?.[0] ?? [])
    const stopping = new AbortController()
    const first = replay(['--destination', 'crm', '--rate', '40'], stopping.signal)
    await until(async () => ((await ids()).length >= 10 ? true : undefined))
    stopping.abort()
    const stopped = await first
    expect(stopped).toMatchObject({ code: 1, total: 2_001, replayed: (await ids()).length })
    expect(stopped.err).toMatch(
      /^hookline: interrupted: \d+ dead letters replayed; run the same command again to replay the rest\n$/,
    )

    const rest = await replay(['--destination', 'crm'])
    expect(rest).toMatchObject({ code: 0, total: 2_001 - stopped.replayed, replayed: 2_000 - stopped.replayed })
    expect([(await ids()).length, new Set(await ids()).size]).toEqual([2_000, 2_000])
  })
})
