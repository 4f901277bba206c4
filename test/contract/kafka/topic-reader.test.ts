import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { KafkaClient } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { type Cluster, internal } from '../../../src/adapters/kafka/kafkajs/private-api.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { LogRecord, PartitionReader, TopicReader } from '../../../src/core/ports.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import {
  afterwards,
  append,
  appendAll,
  eventually,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  plainKafka,
  producer,
  uniqueName,
} from './test-clients-and-topics.ts'

const reader = (on?: string[]): TopicReader & PartitionReader =>
  createReader({ kafka: kafka(on), clock: processClock, logger: silent })

async function read(topic: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  const count = await reader().readToEnd(topic, record => {
    records.push(record)
  })
  expect(count).toBe(records.length)
  return records
}

describe('one partition', () => {
  it('is read completely and in order, and its end is after its last record', async () => {
    const topic = await newTopic({ partitions: 3 })
    const headers = { a: '1' }
    await appendAll(
      producer(),
      topic,
      numbered(300).map((record, index) => ({ ...record, headers, partition: index < 250 ? 1 : 2 })),
    )
    const values: string[] = []
    const count = await reader().readPartition({ topic, partition: 1 }, record => {
      expect(record).toMatchObject({ topic, partition: 1, offset: values.length, key: null, headers })
      values.push(String(record.value))
    })
    expect(count).toBe(250)
    expect(values).toEqual(Array.from({ length: 250 }, (_, index) => String(index)))
    const ends = [0, 1, 2].map(partition => reader().endOf({ topic, partition }))
    expect(await Promise.all(ends)).toEqual([0, 250, 50])
  })

  it('is read no faster than the handler’s promises resolve, until the handler throws', async () => {
    const topic = await newTopic()
    await appendAll(producer(), topic, numbered(20))
    let underWay = 0
    const reading = reader().readPartition({ topic, partition: 0 }, async ({ offset }) => {
      expect(++underWay).toBe(1)
      await new Promise(resolve => setImmediate(resolve))
      underWay--
      if (offset === 10) throw new Error('enough')
    })
    await expect(reading).rejects.toThrow('enough')
  })

  it('rejects with TOPIC_MISSING when the topic does not exist', async () => {
    const missing = { topic: uniqueName(), partition: 0 }
    await expect(reader().endOf(missing)).rejects.toMatchObject({ code: 'TOPIC_MISSING' })
    await expect(reader().readPartition(missing, () => undefined)).rejects.toMatchObject({ code: 'TOPIC_MISSING' })
  })
})

describe('readToEnd', () => {
  it('reads all partitions completely and in order', async () => {
    const topic = await newTopic({ partitions: 3 })
    const headers = { a: '1' }
    await appendAll(
      producer(),
      topic,
      numbered(300).map((record, index) => ({ ...record, headers, partition: index % 3 })),
    )
    const records = await read(topic)
    expect(records).toHaveLength(300)
    for (const partition of [0, 1, 2]) {
      const own = records.filter(record => record.partition === partition)
      expect(own.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, index) => index))
      expect(own[0]).toMatchObject({ topic, key: null, value: Buffer.from(String(partition)), headers })
    }
  })

  it.each([
    { name: 'an empty topic', prepare: async () => newTopic({ partitions: 2 }), count: 0 },
    {
      name: 'a log whose first records were deleted',
      prepare: async () => {
        const topic = await newTopic()
        await appendAll(producer(), topic, numbered(5))
        const admin = await plainAdmin()
        await admin.fetchTopicOffsets(topic)
        await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
        return topic
      },
      count: 2,
    },
    {
      name: 'a log that ends with an aborted transaction',
      prepare: async () => {
        const topic = await newTopic()
        await append(producer(), topic)
        await inTransaction(topic, 'abort')
        return topic
      },
      count: 1,
    },
    {
      name: 'a log with an aborted transaction that is larger than a fetch',
      prepare: async () => {
        const topic = await newTopic()
        await inTransaction(topic, 'abort', 5)
        await append(producer(), topic)
        return topic
      },
      count: 1,
    },
    {
      name: 'a log that ends with a transaction marker',
      prepare: async () => {
        const topic = await newTopic()
        await inTransaction(topic, 'commit')
        return topic
      },
      count: 1,
    },
    {
      name: 'a log with an open transaction, up to its first record',
      prepare: async () => {
        const topic = await newTopic()
        await append(producer(), topic)
        await inTransaction(topic, 'leave open')
        await append(producer(), topic)
        return topic
      },
      count: 1,
    },
  ])('$name', async ({ prepare, count }) => {
    expect(await read(await prepare())).toHaveLength(count)
  })

  it('stops at the end that it found first, although records are appended', async () => {
    const topic = await newTopic()
    const to = producer()
    await appendAll(to, topic, numbered(10))
    const seen: number[] = []
    const count = await reader().readToEnd(topic, async ({ offset }) => {
      seen.push(offset)
      await append(to, topic)
    })
    expect(count).toBe(10)
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('waits for onRecord after each record, and rejects with the error that it throws', async () => {
    const topic = await newTopic({ partitions: 2 })
    await appendAll(
      producer(),
      topic,
      numbered(20).map((record, index) => ({ ...record, partition: index % 2 })),
    )
    let underWay = 0
    let most = 0
    const bug = new Error('enough')
    const reading = reader().readToEnd(topic, async ({ partition, offset }) => {
      most = Math.max(most, ++underWay)
      await new Promise(resolve => setImmediate(resolve))
      underWay--
      if (partition === 1 && offset === 4) throw bug
    })
    await expect(reading).rejects.toBe(bug)
    expect(most).toBe(1)
  })

  it('creates no consumer group', async () => {
    const topic = await newTopic()
    await append(producer(), topic)
    await read(topic)
    const { groups } = await (await plainAdmin()).listGroups()
    const { groups: described } = await (await plainAdmin()).describeGroups(groups.map(({ groupId }) => groupId))
    const readers = described.filter(({ members }) =>
      members.some(({ memberMetadata }) => memberMetadata.includes(topic)),
    )
    expect(readers).toEqual([])
  })

  it('retries while the leader of a partition is unknown', async () => {
    const topic = await newTopic({ partitions: 2 })
    await appendAll(producer(), topic, numbered(10))
    const { client, refused } = withoutLeader(3)
    const reading = createReader({ kafka: client, clock: processClock, logger: silent })
    expect(await reading.readToEnd(topic, () => undefined)).toBe(10)
    expect(refused()).toBe(3)
  })

  it('rejects with the name of a missing topic, and when no broker listens', async () => {
    const topic = uniqueName()
    await expect(read(topic)).rejects.toMatchObject({ code: 'TOPIC_MISSING', message: `topic ${topic} does not exist` })
    const nowhere = reader(['127.0.0.1:1']).readToEnd(topic, () => undefined)
    await expect(nowhere).rejects.toMatchObject({ name: 'KafkaError', code: 'ECONNREFUSED' })
  })
})

/**
 * A client whose first `times` offset requests are refused by a broker that is not yet the leader.
 */
function withoutLeader(times: number): { client: KafkaClient; refused: () => number } {
  const { createErrorFromCode: errorOf } = internal<{ createErrorFromCode(code: number): Error }>('protocol/error')
  const notLeader = 6
  const client = kafka()
  let refused = 0
  const consumer: KafkaClient['consumer'] = config =>
    client.consumer({
      ...config,
      partitionAssigners: config.partitionAssigners?.map(
        assigner => (assignerConfig: Parameters<typeof assigner>[0]) => {
          const { cluster } = assignerConfig as unknown as { cluster: Cluster }
          const { fetchTopicsOffset } = cluster
          cluster.fetchTopicsOffset = topics => {
            if (refused === times) return fetchTopicsOffset.call(cluster, topics)
            refused++
            return Promise.reject(errorOf(notLeader))
          }
          return assigner(assignerConfig)
        },
      ) as never,
    })
  return { client: { ...client, consumer }, refused: () => refused }
}

/** Each record has 500,000 bytes. */
async function inTransaction(topic: string, ending: 'commit' | 'abort' | 'leave open', records = 1): Promise<void> {
  const to = plainKafka().producer({
    transactionalId: uniqueName(),
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 20 },
  })
  await to.connect()
  afterwards(() => to.disconnect())
  const transaction = await to.transaction()
  const value = Buffer.alloc(500_000)
  for (let left = records; left > 0; left--) await transaction.send({ topic, messages: [{ value, partition: 0 }] })
  if (ending === 'leave open') return afterwards(() => transaction.abort())
  const endOf = (): Promise<number> => reader().endOf({ topic, partition: 0 })
  const whileOpen = await endOf()
  await transaction[ending]()
  // The broker confirms the end of the transaction before it has written the marker that ends the
  // transaction for readers.
  await eventually(endOf, end => end > whileOpen)
}
