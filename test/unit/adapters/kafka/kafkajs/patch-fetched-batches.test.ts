import { beforeAll, describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import {
  type FetchedBatch,
  type FetchedMessage,
  internal,
} from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { decodeRecordSet, rawBatch } from './record-batches.ts'

beforeAll(() => {
  loadKafkajs()
})

async function fetched(from: number, ...batches: readonly Buffer[]): Promise<FetchedBatch> {
  const KafkajsBatch =
    internal<new (topic: string, offset: string, partition: object) => FetchedBatch>('consumer/batch')
  const messages = (await decodeRecordSet(...batches)) as unknown as FetchedMessage[]
  return new KafkajsBatch('topic', String(from), {
    partition: 0,
    highWatermark: '1000',
    abortedTransactions: [],
    messages,
  })
}

describe('a batch advances the position to its end, whichever records compaction has left', () => {
  it.each([
    { name: 'all records', from: 10, batches: [rawBatch(10, 2, [0, 1, 2])], offsets: ['10', '11', '12'], last: '12' },
    { name: 'no records (tulios/kafkajs#1072)', from: 10, batches: [rawBatch(10, 5, [])], offsets: [], last: '15' },
    { name: 'only the first records', from: 10, batches: [rawBatch(10, 5, [0, 1])], offsets: ['10', '11'], last: '15' },
    { name: 'only a record before the position', from: 12, batches: [rawBatch(10, 5, [0])], offsets: [], last: '15' },
    {
      name: 'a complete batch, then an empty one',
      from: 0,
      batches: [rawBatch(0, 0, [0]), rawBatch(1, 8, [])],
      offsets: ['0'],
      last: '9',
    },
    {
      name: 'an empty batch, then a complete one',
      from: 0,
      batches: [rawBatch(0, 4, []), rawBatch(5, 0, [0])],
      offsets: ['5'],
      last: '5',
    },
  ])('$name', async ({ from, batches, offsets, last }) => {
    const batch = await fetched(from, ...batches)
    expect(batch.messages.map(({ offset }) => offset)).toEqual(offsets)
    expect(batch.lastOffset()).toBe(last)
  })
})

describe('the record set of a fetch', () => {
  it('may have a batch of 200,000 records', async () => {
    const deltas = Array.from({ length: 200_000 }, (_, index) => index)
    const records = await decodeRecordSet(rawBatch(0, deltas.length - 1, deltas))
    expect(records).toHaveLength(deltas.length)
    expect(records.at(-1)?.offset).toBe('199999')
  })

  it('may end with a part of a batch, which is ignored', async () => {
    const cut = rawBatch(3, 1, [0, 1]).subarray(0, -5)
    const records = await decodeRecordSet(rawBatch(0, 2, [0, 1, 2]), cut)
    expect(records.map(({ offset }) => offset)).toEqual(['0', '1', '2'])
  })

  it('may be empty', async () => {
    expect(await decodeRecordSet()).toEqual([])
  })

  it('may have messages of the format before Kafka 0.11', async () => {
    // The bytes are the offset 7 and a message of format 1, without a key and with the value `v`.
    const message = Buffer.alloc(23)
    message.writeInt8(1, 4)
    message.writeInt32BE(-1, 14)
    message.writeInt32BE(1, 18)
    message.write('v', 22)
    const head = Buffer.alloc(12)
    head.writeBigInt64BE(7n, 0)
    head.writeInt32BE(message.length, 8)
    expect(await decodeRecordSet(Buffer.concat([head, message]))).toMatchObject([
      { offset: '7', value: Buffer.from('v') },
    ])
  })
})
