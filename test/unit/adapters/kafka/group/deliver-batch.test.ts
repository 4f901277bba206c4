import { describe, expect, it } from '@jest/globals'
import { deliverBatch } from '../../../../../src/adapters/kafka/group/deliver-batch.ts'
import type { OwnedPartition } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import type { FetchedBatch } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import type { RecordBatch } from '../../../../../src/core/ports.ts'
import { owned } from './single-member-group.ts'

/**
 * A batch that was fetched from offset `fetched`. Its last offset, `last`, can belong to a
 * transaction marker.
 */
function batch(
  fetched: number,
  offsets: readonly number[],
  last = offsets.at(-1) as number,
  more: { readonly value?: Buffer; readonly headers?: Readonly<Record<string, string>> } = {},
): FetchedBatch {
  const messages = offsets.map(offset => ({ offset: String(offset), timestamp: '0', key: null, value: null, ...more }))
  return {
    topic: 'topic',
    partition: 0,
    fetchedOffset: String(fetched),
    highWatermark: '99999',
    messages,
    rawMessages: messages,
    lastOffset: () => String(last),
    isEmpty: () => false,
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

async function handed(
  from: FetchedBatch,
  next: number,
  during: (given: RecordBatch, partition: OwnedPartition) => void = () => undefined,
  isOurs: () => boolean = () => true,
) {
  const partition = owned(0, { next })
  const parts: RecordBatch[] = []
  await deliverBatch(from, partition, isOurs, {
    onRecords(given) {
      parts.push(given)
      during(given, partition)
    },
  })
  return { parts: parts.map(({ records, nextOffset }) => [records.length, nextOffset]), next: partition.next }
}

describe('deliverBatch', () => {
  it('notes the timestamp of the last delivered record', async () => {
    const partition = owned(0, { next: 4 })
    const { messages, ...rest } = batch(4, [4, 5])
    const timed = messages.map((message, index) => ({ ...message, timestamp: String(1_000 + index) }))
    await deliverBatch({ ...rest, messages: timed }, partition, () => true, { onRecords: () => undefined })
    expect(partition.lastTimestamp).toBe(1_001)
    await deliverBatch(batch(6, [], 8), partition, () => true, { onRecords: () => undefined })
    expect(partition.lastTimestamp).toBe(1_001)
  })

  it.each([
    { name: 'a batch that begins at the position', from: batch(5, [5, 6, 7]), next: 5, parts: [[3, 8]], end: 8 },
    { name: 'gaps, and a marker at the end', from: batch(5, [6, 9], 12), next: 5, parts: [[2, 13]], end: 13 },
    { name: 'a batch of markers only', from: batch(5, [], 6), next: 5, parts: [[0, 7]], end: 7 },
    { name: 'records below the position are skipped', from: batch(3, [3, 4, 5, 6]), next: 5, parts: [[2, 7]], end: 7 },
    { name: 'a batch below the position is ignored', from: batch(3, [3, 4]), next: 5, parts: [], end: 5 },
    { name: 'a batch above the position is ignored', from: batch(6, [6, 7]), next: 5, parts: [], end: 5 },
    {
      name: 'a large batch is delivered in parts of 1,000 records',
      from: batch(0, range(0, 2_500), 2_600),
      next: 0,
      parts: [
        [1_000, 1_000],
        [1_000, 2_000],
        [500, 2_601],
      ],
      end: 2_601,
    },
    {
      name: 'large records are delivered in parts of one mebibyte',
      from: batch(0, range(0, 5), 4, { value: Buffer.alloc(512 * 1024) }),
      next: 0,
      parts: [
        [2, 2],
        [2, 4],
        [1, 5],
      ],
      end: 5,
    },
    {
      name: 'records with large headers are delivered one by one',
      from: batch(0, [0, 1], 1, { headers: { junk: 'x'.repeat(1024 * 1024) } }),
      next: 0,
      parts: [
        [1, 1],
        [1, 2],
      ],
      end: 2,
    },
  ])('$name', async ({ from, next, parts, end }) => {
    expect(await handed(from, next)).toEqual({ parts, next: end })
  })

  it('stops after the part in which it is paused', async () => {
    const result = await handed(batch(0, range(0, 2_500)), 0, ({ nextOffset }, partition) => {
      partition.paused = nextOffset === 1_000
    })
    expect(result).toEqual({ parts: [[1_000, 1_000]], next: 1_000 })
  })

  it('delivers nothing of a paused partition', async () => {
    const partition = owned(0, { paused: true })
    await deliverBatch(batch(0, [0]), partition, () => true, {
      onRecords: () => {
        throw new Error('paused')
      },
    })
    expect(partition.next).toBe(0)
  })

  it('stops after a seek, within a part and between two parts', async () => {
    const within = await handed(batch(0, range(0, 2_500)), 0, (_, partition) => {
      partition.next = 400
    })
    expect(within).toEqual({ parts: [[1_000, 1_000]], next: 400 })
    const between = await handed(batch(0, range(0, 2_500)), 0, (_, partition) => {
      setImmediate(() => {
        partition.next = 400
      })
    })
    expect(between).toEqual({ parts: [[1_000, 1_000]], next: 400 })
  })

  it('stops when the partition is revoked', async () => {
    let isOurs = true
    const result = await handed(
      batch(0, range(0, 2_500)),
      0,
      () => {
        isOurs = false
      },
      () => isOurs,
    )
    expect(result.parts).toEqual([[1_000, 1_000]])
  })
})
