import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { LogRecord } from '../../../src/core/ports.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import {
  append,
  appendAll,
  eventually,
  growTo,
  kafka,
  newTopic,
  plainAdmin,
  producer,
  uniqueName,
} from './test-clients-and-topics.ts'

async function contents(topic: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  await createReader({ kafka: kafka(), clock: processClock, logger: silent }).readToEnd(topic, record => {
    records.push(record)
  })
  return records
}

const failure = (code: string, retriable: boolean) => expect.objectContaining({ name: 'KafkaError', code, retriable })

it.each([
  ['reports the broker’s append time', 'LogAppendTime'],
  ['reports no append time for a topic with CreateTime', 'CreateTime'],
])('%s', async (_, type) => {
  const topic = await newTopic({ config: { 'message.timestamp.type': type, 'cleanup.policy': 'compact' } })
  const to = producer()
  const times: (number | undefined)[] = []
  const record = { key: Buffer.from('-/clock'), value: null, headers: {} }
  for (let round = 0; round < 3; round++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    to.append(topic, record, (error, offset, appendedAt) => {
      times.push(error === undefined && offset === round ? appendedAt : Number.NaN)
      resolve()
    })
    await promise
  }
  const stored = (await contents(topic)).map(({ timestamp }) => timestamp)
  expect(times).toEqual(type === 'CreateTime' ? Array(3).fill(undefined) : stored)
})

describe('the partition of a record', () => {
  it('is the one that Java’s producer selects for the key', async () => {
    const topic = await newTopic({ partitions: 5 })
    const keys = Array.from({ length: 40 }, (_, index) => Buffer.from(`user-${index}`))
    await appendAll(
      producer(),
      topic,
      keys.map(key => ({ key })),
    )
    const records = await contents(topic)
    expect(records).toHaveLength(40)
    for (const { key, partition } of records) expect(partition).toBe(partitionFor(key as Buffer, 5))
  })

  it('is the explicit partition rather than that of the key', async () => {
    const topic = await newTopic({ partitions: 3 })
    await appendAll(
      producer(),
      topic,
      [0, 1, 2].map(partition => ({ key: Buffer.from('same'), partition })),
    )
    expect((await contents(topic)).map(({ partition }) => partition)).toEqual([0, 1, 2])
  })

  it('is that of partitionKey rather than that of the key', async () => {
    const topic = await newTopic({ partitions: 5 })
    const partitionKey = Buffer.from('["d-1"]')
    await appendAll(
      producer(),
      topic,
      Array.from({ length: 20 }, (_, index) => ({ key: Buffer.from(`user-${index}`), partitionKey })),
    )
    const records = await contents(topic)
    expect(new Set(records.map(({ key }) => String(key))).size).toBe(20)
    expect(new Set(records.map(({ partition }) => partition))).toEqual(new Set([partitionFor(partitionKey, 5)]))
  })

  it('changes for records without a key', async () => {
    const topic = await newTopic({ partitions: 3 })
    const to = producer()
    for (let index = 0; index < 9; index++) await append(to, topic, { value: Buffer.from('x') })
    expect(new Set((await contents(topic)).map(({ partition }) => partition))).toEqual(new Set([0, 1, 2]))
  })

  it('may be a partition that was added', async () => {
    const topic = await newTopic({ partitions: 1 })
    const to = producer()
    await append(to, topic)
    await growTo(4, topic)
    // kafkajs does not know partition 3 until it refreshes its metadata.
    await expect(append(to, topic, { partition: 3 })).rejects.toEqual(failure('UNANSWERED', true))
    await append(producer(), topic, { partition: 3 })
  })
})

it('keeps the order of a partition over many batches', async () => {
  const topic = await newTopic({ partitions: 2 })
  const to = producer()
  const values = Array.from({ length: 5_000 }, (_, index) => index)
  await appendAll(
    to,
    topic,
    values.map(index => ({ partition: index % 2, value: Buffer.from(String(index)) })),
  )
  const records = await contents(topic)
  for (const partition of [0, 1]) {
    const inPartition = records.filter(record => record.partition === partition).map(({ value }) => Number(value))
    expect(inPartition).toEqual(values.filter(index => index % 2 === partition))
  }
})

describe('a failed append', () => {
  it('has code TOPIC_MISSING for an unknown topic', async () => {
    const topic = uniqueName()
    const to = producer()
    const error = await append(to, topic).catch((thrown: unknown) => thrown)
    expect(error).toEqual(failure('TOPIC_MISSING', false))
    expect((error as Error).message).toBe(`topic ${topic} does not exist`)
    const admin = await plainAdmin()
    expect(await admin.listTopics()).not.toContain(topic)
    await newTopic({ name: topic })
    await append(to, topic)
  })

  it('to a deleted topic affects no other topic', async () => {
    const [kept, deleted] = [await newTopic(), await newTopic()]
    const to = producer()
    for (const topic of [kept, deleted]) await append(to, topic)
    const admin = await plainAdmin()
    await admin.deleteTopics({ topics: [deleted] })
    await eventually(
      () => admin.listTopics(),
      topics => !topics.includes(deleted),
    )
    // The first record for another topic makes the producer refresh its metadata.
    await append(to, await newTopic())
    await append(to, kept)
    await expect(append(to, deleted)).rejects.toEqual(failure('TOPIC_MISSING', false))
  })

  it('affects only the too large record, not the others of its batch', async () => {
    const topic = await newTopic({ config: { 'max.message.bytes': '2000' } })
    const records = [100, 100, 5_000, 100, 100].map(length => ({ value: Buffer.alloc(length) }))
    const to = producer()
    const results = await Promise.allSettled(records.map(record => append(to, topic, record)))
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect((results[2] as PromiseRejectedResult).reason).toEqual(failure('MESSAGE_TOO_LARGE', false))
    expect(await contents(topic)).toHaveLength(4)
  })

  it('does not occur when only the batch is above the topic’s limit', async () => {
    const topic = await newTopic({ config: { 'max.message.bytes': '2000' } })
    await appendAll(
      producer(),
      topic,
      Array.from({ length: 50 }, () => ({ value: Buffer.alloc(500) })),
    )
    expect(await contents(topic)).toHaveLength(50)
  })

  it('affects only the record without a key in a compacted topic', async () => {
    const topic = await newTopic({ config: { 'cleanup.policy': 'compact' } })
    const to = producer()
    const keys = ['a', null, 'b'].map(key => (key === null ? null : Buffer.from(key)))
    const results = await Promise.allSettled(keys.map(key => append(to, topic, { key })))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((results[1] as PromiseRejectedResult).reason).toEqual(failure('INVALID_RECORD', false))
  })

  it('has the code of the connection error when no broker listens', async () => {
    const to = producer({ kafka: kafka(['127.0.0.1:1']) })
    await expect(append(to, uniqueName())).rejects.toEqual(failure('ECONNREFUSED', true))
  })
})

it('flush waits for earlier records, stop for all; a stopped producer rejects records', async () => {
  const topic = await newTopic()
  const to = producer()
  let answered = 0
  for (let index = 0; index < 100; index++)
    to.append(topic, { key: null, value: null, headers: {} }, () => {
      answered++
    })
  await to.flush()
  expect(answered).toBe(100)
  await to.flush()
  const last = append(to, topic)
  await to.stop()
  await last
  await expect(append(to, topic)).rejects.toEqual(failure('CLOSED', false))
  expect(await contents(topic)).toHaveLength(101)
})

describe('compression codecs', () => {
  const codecs = ['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const
  const values = Array.from({ length: 300 }, (_, index) =>
    Buffer.from(JSON.stringify({ index, text: 'ab'.repeat(index) })),
  )

  it.each(codecs)('%s: the broker reads Hookline’s batches, and Hookline the broker’s', async compression => {
    // For `ours`, the broker must unpack Hookline's batches. For `theirs`, Hookline must unpack the
    // broker's batches.
    const other = compression === 'GZIP' ? 'lz4' : 'gzip'
    const ours = await newTopic({ config: { 'compression.type': other } })
    const theirs = await newTopic({ config: { 'compression.type': compression.toLowerCase() } })
    await appendAll(
      producer({ compression }),
      ours,
      values.map(value => ({ value })),
    )
    await appendAll(
      producer(),
      theirs,
      values.map(value => ({ value })),
    )
    for (const topic of [ours, theirs]) expect((await contents(topic)).map(({ value }) => value)).toEqual(values)
  })
})
