import { describe, expect, it } from '@jest/globals'
import type { LogSession } from '../../../../src/core/log-session.ts'
import { DeadLetterIndex } from '../../../../src/core/operator/dead-letter-index.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { createDeadLetterKeys } from '../../../../src/services/operator/fill-dead-letter-index.ts'
import { type Part, readNewestFirst } from '../../../../src/services/operator/read-newest-first.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'

const topic = 'hookline.dead-letter'
const budgetOf = (records: number) => new ReadBudget({ records, time: 1 }, () => 0)

/** A topic with records of one size. Its session records the bytes of its largest read. */
function topicOf(count: number, size: number) {
  const session = new MemorySession()
  const value = Buffer.alloc(size)
  const append = (more: number): void => {
    for (let n = 0; n < more; n++) session.append(topic, 0, n, { key: Buffer.from(`k${n}`), value, headers: {} })
  }
  append(count)
  const counted = { session, append, largest: 0 }
  const measured: LogSession = Object.assign(Object.create(session), {
    async read(...[of, from, to, onRecord]: Parameters<LogSession['read']>) {
      counted.largest = Math.max(counted.largest, (to - from) * size)
      return session.read(of, from, to, onRecord)
    },
  })
  return Object.assign(counted, { measured })
}

it('chunks of large records stay small, so that the budget is checked often', async () => {
  const large = topicOf(3_000, 60_000)
  const parts = [{ partition: 0, from: 0, to: 3_000 }]
  const wanted = { topic, parts, budget: budgetOf(5_000), limit: 1, select: () => undefined }
  expect((await readNewestFirst(large.measured, wanted)).isComplete).toBe(true)
  expect(large.largest).toBeLessThan(16 * 1024 * 1024)
  expect(large.session.count).toBe(3_000)
})

it('the first chunk of large records stays small, also when many records are wanted', async () => {
  const large = topicOf(1_000, 60_000)
  const parts = [{ partition: 0, from: 0, to: 1_000 }]
  await readNewestFirst(large.measured, { topic, parts, budget: budgetOf(5_000), limit: 1_000, select: () => true })
  expect(large.largest).toBeLessThan(4 * 1024 * 1024)
})

it('reads few records after tombstones, which say nothing about the size of other records', async () => {
  const large = topicOf(1_000, 60_000)
  for (let n = 0; n < 8; n++)
    large.session.append(topic, 0, 1_000 + n, { key: Buffer.from(`k${n}`), value: null, headers: {} })
  const parts = [{ partition: 0, from: 0, to: 1_008 }]
  await readNewestFirst(large.measured, { topic, parts, budget: budgetOf(5_000), limit: 1, select: () => undefined })
  expect(large.largest).toBeLessThan(4 * 1024 * 1024)
})

it('reads large chunks soon after a small first one, so that a search for a rare record reaches far back', async () => {
  const { measured } = topicOf(5_000, 10)
  const chunks: number[] = []
  const onChunk = ({ from, to }: Part): number => chunks.push(to - from)
  const parts = [{ partition: 0, from: 0, to: 5_000 }]
  await readNewestFirst(measured, { topic, parts, budget: budgetOf(5_000), limit: 1, select: () => undefined, onChunk })
  expect(chunks).toEqual([8, 250, 1_000, 2_000, 1_742])
})

it('the keys of many new records are read in parts, each within the budget', async () => {
  const many = topicOf(1, 10)
  const keys = createDeadLetterKeys({ topic, index: new DeadLetterIndex() })
  await keys.follow(many.session, budgetOf(1))
  many.append(4_500)
  const complete: boolean[] = []
  while (complete.at(-1) !== true) complete.push((await keys.follow(many.session, budgetOf(2_000))).isComplete)
  expect(complete).toEqual([false, false, true])
})

it('reads several partitions concurrently, so that the read does not wait for each response', async () => {
  const session = new MemorySession(6)
  for (let partition = 0; partition < 6; partition++)
    for (let n = 0; n < 2_000; n++)
      session.append(topic, partition, n * 6 + partition, { key: null, value: Buffer.alloc(1), headers: {} })
  const concurrent: number[] = []
  let reading = 0
  const counted: LogSession = Object.assign(Object.create(session), {
    async read(...given: Parameters<LogSession['read']>) {
      concurrent.push(++reading)
      await new Promise(setImmediate)
      reading--
      return session.read(...given)
    },
  })
  const parts = Array.from({ length: 6 }, (_, partition) => ({ partition, from: 0, to: 2_000 }))
  const wanted = { topic, parts, budget: budgetOf(20_000), limit: 1, select: () => undefined }
  expect((await readNewestFirst(counted, wanted)).isComplete).toBe(true)
  expect(Math.max(...concurrent.slice(6))).toBe(4)
})

describe('a topic with 324 partitions of 300 records', () => {
  const partitions = 324
  const end = 300
  const session = new MemorySession(partitions)
  for (let n = 0; n < end; n++)
    for (let partition = 0; partition < partitions; partition++)
      session.append(topic, partition, n * partitions + partition, { key: null, value: null, headers: {} })
  const all: readonly Part[] = Array.from({ length: partitions }, (_, partition) => ({ partition, from: 0, to: end }))
  const read = (budget: ReadBudget, parts = all, of: LogSession = session) =>
    readNewestFirst(of, { topic, parts, budget, limit: 100, select: ({ offset }) => offset })
  const newest = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ item: end - 1, partition: partitions - 1 - index }))

  it('returns the newest 100 records after a read of a few per partition', async () => {
    const before = session.count
    expect((await read(budgetOf(300_000))).found).toMatchObject(newest(100))
    expect(session.count - before).toBeLessThan(10 * partitions)
  })

  it('is read page by page even if each budget is smaller than the first chunks of all partitions', async () => {
    const first = await read(budgetOf(500))
    const second = await read(budgetOf(500), first.unreadParts)
    expect([...first.found, ...second.found]).toMatchObject(newest(200))
    expect(second.unreadParts).not.toEqual(first.unreadParts)
  })

  it('is read once per partition when the time ends early and compaction has removed the newest records', async () => {
    let reads = 0
    const compacted: LogSession = Object.assign(Object.create(session), {
      async read(...[of, from, to, onRecord]: Parameters<LogSession['read']>) {
        reads++
        return session.read(of, from, to, record => (record.offset < 250 ? onRecord(record) : undefined))
      },
    })
    const { unreadParts } = await read(new ReadBudget({ records: 300_000, time: 1 }, () => reads), all, compacted)
    expect(reads).toBe(partitions)
    expect(unreadParts.every(({ to }) => to < end)).toBe(true)
  })
})

it('finds a record before a long run of offsets whose records compaction has removed', async () => {
  const { session } = topicOf(30_000, 10)
  let reads = 0
  const compacted: LogSession = Object.assign(Object.create(session), {
    async read(...[of, from, to, onRecord]: Parameters<LogSession['read']>) {
      if (++reads > 100) throw new Error('too many reads')
      const isLeft = ({ offset }: LogRecord): boolean => offset < 200 || offset > 29_500
      return session.read(of, from, to, record => (isLeft(record) ? onRecord(record) : undefined))
    },
  })
  const wanted = {
    ...{ topic, parts: [{ partition: 0, from: 0, to: 30_000 }], budget: budgetOf(5_000), limit: 1 },
    select: ({ offset }: LogRecord) => (offset === 100 ? offset : undefined),
  }
  expect((await readNewestFirst(compacted, wanted)).found).toMatchObject([{ item: 100 }])
  expect(reads).toBeLessThan(30)
})

it('the keys are read again when Kafka has deleted records that were not read', async () => {
  const { session, append } = topicOf(100, 10)
  const keys = createDeadLetterKeys({ topic, index: new DeadLetterIndex() })
  await keys.follow(session, budgetOf(1_000))
  append(100)
  session.removed.set(`${topic}/0`, 150)
  expect(await keys.follow(session, budgetOf(1_000))).toMatchObject({ isComplete: true })
})

it('a full index has room again when Kafka has deleted the records of its keys', async () => {
  const { session, append } = topicOf(1, 10)
  const index = new DeadLetterIndex(50)
  const keys = createDeadLetterKeys({ topic, index })
  await keys.follow(session, budgetOf(1_000))
  append(60)
  await keys.follow(session, budgetOf(1_000))
  expect(index.isFull).toBe(true)
  session.removed.set(`${topic}/0`, 40)
  await keys.follow(session, budgetOf(1_000))
  expect(index.isFull).toBe(false)
})
