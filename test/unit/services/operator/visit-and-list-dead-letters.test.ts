import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { LiveDeadLetters } from '../../../../src/core/delivery/live-dead-letters.ts'
import type { DeadLetterReason } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { Decoded, EventCodec, LogRecord, TopicReader } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  createReadEvent,
  listDeadLetters,
  visitDeadLetters,
} from '../../../../src/services/operator/visit-and-list-dead-letters.ts'
import { carriedOf, eventOf, recordOf, start } from '../../../support/builders.ts'

const topic = 'hookline.dead-letter'

/** The nth dead letter, which was written `minute` minutes after `start`. */
function deadLetter(n: number, minute = n, reason: DeadLetterReason = 'http_4xx'): LogRecord {
  const event = recordOf({ offset: n })
  const origin = { ...carriedOf().origin, offset: n }
  const outgoing = deadLetterRecord(event, carriedOf({ origin, messageId: `m-${n}` }), reason)
  return recordOf({ ...outgoing, topic, partition: 0, offset: n, timestamp: epochMs(start + minute * 60_000) })
}
const tombstone = (of: LogRecord, offset: number): LogRecord => ({ ...of, offset, value: null, headers: {} })

/** A reader whose nth read returns the nth list of records. Later reads return the last list. */
function readerOf(...readings: (readonly LogRecord[])[]): TopicReader & { readonly readingsLeft: () => number } {
  return {
    readingsLeft: () => readings.length,
    async readToEnd(asked, onRecord) {
      expect(asked).toBe(topic)
      const records = (readings.length > 1 ? readings.shift() : readings[0]) ?? []
      for (const record of records) await onRecord(record)
      return records.length
    },
  }
}

describe('visitDeadLetters', () => {
  const visited = async (reader: TopicReader): Promise<[number, unknown[]]> => {
    const seen: unknown[] = []
    const total = await visitDeadLetters(
      reader,
      topic,
      ({ messageId }, record) => void seen.push([messageId, record.offset]),
    )
    return [total, seen]
  }

  it('visits live dead letters with their records', async () => {
    const [first, second, third] = [deadLetter(1), deadLetter(2), deadLetter(3)]
    const reader = readerOf([first, second, third, tombstone(second, 9)])
    expect(await visited(reader)).toEqual([
      2,
      [
        ['m-1', 1],
        ['m-3', 3],
      ],
    ])
  })

  it('ignores records that are written between the two reads', async () => {
    const known = [deadLetter(1), deadLetter(2)]
    const between = [deadLetter(3), tombstone(deadLetter(1), 9)]
    expect(await visited(readerOf(known, [...known, ...between]))).toEqual([
      2,
      [
        ['m-1', 1],
        ['m-2', 2],
      ],
    ])
  })

  it('counts and visits only the dead letters before the given offsets', async () => {
    const records = [deadLetter(1), deadLetter(2), deadLetter(3), deadLetter(4), tombstone(deadLetter(2), 9)]
    const again = { ...deadLetter(1), offset: 8 }
    const other = { ...deadLetter(5), partition: 1 }
    const totals: number[] = []
    const seen: unknown[] = []
    const total = await visitDeadLetters(
      readerOf([...records, again, other]),
      topic,
      ({ messageId }) => void seen.push(messageId),
      found => totals.push(found) > 0,
      new LiveDeadLetters([4, 3]),
    )
    expect([total, totals, seen]).toEqual([1, [1], ['m-3']])
  })

  it('visits dead letters in parts when they are too many for the memory', async () => {
    const known = [deadLetter(1), deadLetter(2), deadLetter(3), tombstone(deadLetter(2), 4), deadLetter(5)]
    const later = [...known, tombstone(deadLetter(1), 6), tombstone(deadLetter(3), 7), deadLetter(8)]
    const totals: number[] = []
    const seen: unknown[] = []
    const total = await visitDeadLetters(
      readerOf(known, known, later),
      topic,
      ({ messageId }) => void seen.push(messageId),
      found => totals.push(found) > 0,
      new LiveDeadLetters(undefined, 2),
    )
    expect([total, totals, seen]).toEqual([2, [3], ['m-1', 'm-5']])
  })

  it('visits one dead letter at a time', async () => {
    const order: string[] = []
    await visitDeadLetters(readerOf([deadLetter(1), deadLetter(2)]), topic, async ({ messageId }) => {
      order.push(`begin ${messageId}`)
      await new Promise(resolve => setImmediate(resolve))
      order.push(`end ${messageId}`)
    })
    expect(order).toEqual(['begin m-1', 'end m-1', 'begin m-2', 'end m-2'])
  })

  it('reads once when there are no dead letters', async () => {
    const reader = readerOf([deadLetter(1), tombstone(deadLetter(1), 2)], [])
    expect(await visited(reader)).toEqual([0, []])
    expect(reader.readingsLeft()).toBe(1)
  })
})

describe('listDeadLetters', () => {
  const records = [
    deadLetter(1, 5),
    deadLetter(2, 1),
    deadLetter(3, 3, 'undecodable'),
    deadLetter(4, 2),
    deadLetter(5, 4),
  ]
  const list = (filter = {}, limit?: number) =>
    listDeadLetters({ reader: readerOf(records), topic, readEvent: async () => undefined }, filter, limit)
  const ids = async (limit?: number): Promise<unknown[]> =>
    (await list({}, limit)).deadLetters.map(({ messageId }) => messageId)

  it.each<[number | undefined, string[]]>([
    [undefined, ['m-2', 'm-4', 'm-3', 'm-5', 'm-1']],
    [9, ['m-2', 'm-4', 'm-3', 'm-5', 'm-1']],
    [3, ['m-3', 'm-5', 'm-1']],
    [2, ['m-5', 'm-1']],
    [1, ['m-1']],
  ])('lists the newest %s, oldest first', async (limit, expected) => {
    expect(await ids(limit)).toEqual(expected)
  })

  it('breaks ties of time by key', async () => {
    const same = [deadLetter(2, 1), deadLetter(1, 1)]
    const deps = { reader: readerOf(same), topic, readEvent: async () => undefined }
    expect((await listDeadLetters(deps, {})).deadLetters.map(({ messageId }) => messageId)).toEqual(['m-1', 'm-2'])
  })

  it('counts all selected dead letters, whatever the limit', async () => {
    expect(await list({}, 1)).toMatchObject({
      total: 5,
      selected: 5,
      byReason: new Map([
        ['http_4xx', 4],
        ['undecodable', 1],
      ]),
    })
    const selected = await list({ reason: 'undecodable' }, 1)
    expect(selected).toMatchObject({ total: 5, selected: 1, byReason: new Map([['undecodable', 1]]) })
  })
})

describe('the event of a dead letter', () => {
  const event = eventOf()
  const undecodable: Decoded = { kind: 'undecodable', detail: 'x' }
  const needed = (schemaId: number): Decoded => ({ kind: 'schema_needed', schemaId })

  /**
   * Schema 1 exists, so `decode` returns an event after `learn`. Schema 2 does not exist. For
   * schema 3, the registry is unreachable.
   */
  function codecOf(decoded: Decoded) {
    const asked: number[] = []
    const times: number[] = []
    const codec: EventCodec = {
      encode: () => Buffer.alloc(0),
      decode(_value, receivedAt) {
        times.push(receivedAt)
        return decoded.kind === 'schema_needed' && asked.includes(1) ? { kind: 'event', event } : decoded
      },
      async learn(id) {
        asked.push(id)
        if (id === 3) throw new Error('the registry is away')
        return id === 1
      },
    }
    return { codec, asked, times }
  }
  const read = async (decoded: Decoded, readings: number) => {
    const { codec, asked, times } = codecOf(decoded)
    const failures: unknown[] = []
    const readEvent = createReadEvent(codec, error => failures.push(error))
    const record = deadLetter(1)
    const parsed = { origin: carriedOf().origin } as Parameters<typeof readEvent>[1]
    const events: unknown[] = []
    for (let n = 0; n < readings; n++) events.push(await readEvent(record, parsed))
    return { events, asked, times, failures: failures.length }
  }

  it.each<[string, Decoded, unknown, number[], number]>([
    ['is decoded', { kind: 'event', event }, event, [], 0],
    ['cannot be decoded', undecodable, undefined, [], 0],
    ['is decoded after its schema was fetched', needed(1), event, [1], 0],
    ['has an unknown schema, which is requested once', needed(2), undefined, [2], 0],
    ['has a schema while the registry cannot be reached, which is reported once', needed(3), undefined, [3], 1],
  ])('%s', async (_name, decoded, expected, asked, failures) => {
    expect(await read(decoded, 2)).toMatchObject({ events: [expected, expected], asked, failures })
  })

  it('is decoded with the timestamp of its original record', async () => {
    expect((await read({ kind: 'event', event }, 1)).times).toEqual([start])
  })
})
