import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createFollower, type FollowerDeps } from '../../../src/adapters/kafka/log/topic-follower.ts'
import type { LogRecord } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import { RecordingFollower } from '../../support/kafka/recording-follower-handlers.ts'
import { startTcpProxy } from '../../support/network/tcp-proxy.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import {
  afterwards,
  append,
  appendAll,
  brokers,
  growTo,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  producer,
  uniqueName,
} from './test-clients-and-topics.ts'

async function follow(topic: string, options: Partial<FollowerDeps> = {}): Promise<RecordingFollower> {
  const followed = new RecordingFollower()
  const follower = createFollower({ kafka: kafka(), topic, clock: processClock, logger: silent, ...options })
  afterwards(() => follower.stop())
  await follower.start(followed)
  return followed
}

describe('a follower', () => {
  it('delivers all records in order before start resolves, and then new ones', async () => {
    const topic = await newTopic({ partitions: 3 })
    const to = producer()
    const spread = numbered(300).map((record, index) => ({ ...record, partition: index % 3 }))
    await appendAll(to, topic, spread)
    const followed = await follow(topic)
    expect(followed.records).toHaveLength(300)
    await append(to, topic, { key: Buffer.from('k'), value: Buffer.from('later'), headers: { a: '1' }, partition: 2 })
    await append(to, topic, { key: Buffer.from('k'), value: null, partition: 2 })
    await followed.until(() => followed.records.length === 302)
    expect(followed.records.slice(300)).toMatchObject([
      { topic, partition: 2, offset: 100, key: Buffer.from('k'), value: Buffer.from('later'), headers: { a: '1' } },
      { topic, partition: 2, offset: 101, value: null },
    ])
    for (const partition of [0, 1, 2]) {
      const offsets = followed.records.filter(record => record.partition === partition).map(({ offset }) => offset)
      expect(offsets).toEqual(Array.from({ length: partition === 2 ? 102 : 100 }, (_, index) => index))
    }
  })

  it('calls onCurrent immediately and repeatedly for an empty topic', async () => {
    const startedAt = processClock.monotonic()
    const followed = await follow(await newTopic({ partitions: 2 }))
    expect(followed.asOf).toBeGreaterThanOrEqual(startedAt)
    const first = followed.asOf
    await followed.until(() => followed.asOf > first)
  })

  it('has delivered all records acknowledged before the time passed to onCurrent', async () => {
    const topic = await newTopic({ partitions: 4 })
    const to = producer()
    const followed = await follow(topic)
    for (const record of numbered(6)) {
      await append(to, topic, { key: record.value, ...record })
      const acknowledgedAt = processClock.monotonic()
      await followed.until(() => followed.asOf >= acknowledgedAt)
      expect(followed.values).toContain(String(record.value))
    }
  })

  it('continues at the first record of a log whose beginning was deleted', async () => {
    const topic = await newTopic()
    const to = producer()
    await appendAll(to, topic, numbered(5))
    const admin = await plainAdmin()
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
    const followed = await follow(topic)
    expect(followed.values).toEqual(['3', '4'])
  })

  it('reads a topic again from its beginning after it was deleted and created again', async () => {
    const topic = await newTopic({ partitions: 2 })
    const to = producer()
    await appendAll(
      to,
      topic,
      numbered(10).map(record => ({ ...record, partition: 0 })),
    )
    const followed = await follow(topic)
    const admin = await plainAdmin()
    await admin.deleteTopics({ topics: [topic] })
    await followed.untilBehind(1_500)
    await newTopic({ name: topic, partitions: 2 })
    await appendAll(producer(), topic, [{ value: Buffer.from('anew'), partition: 0 }])
    await followed.until(() => followed.values.includes('anew'))
    const now = processClock.monotonic()
    await followed.until(() => followed.asOf > now)
  })

  it('reads a topic again that was created again with fewer partitions', async () => {
    const topic = await newTopic({ partitions: 3 })
    const followed = await follow(topic, { metadataMaxAgeMs: 300 })
    const admin = await plainAdmin()
    await admin.deleteTopics({ topics: [topic] })
    await followed.untilBehind(1_500)
    await newTopic({ name: topic, partitions: 1 })
    await append(producer(), topic, { value: Buffer.from('anew') })
    await followed.until(() => followed.values.includes('anew'))
    const now = processClock.monotonic()
    await followed.until(() => followed.asOf > now)
  })

  it('reads partitions that are added', async () => {
    const topic = await newTopic()
    const followed = await follow(topic, { metadataMaxAgeMs: 300 })
    await growTo(2, topic)
    await append(producer(), topic, { value: Buffer.from('second'), partition: 1 })
    await followed.until(() => followed.values.includes('second'))
  })

  it('begins at the end when asked to', async () => {
    const topic = await newTopic({ partitions: 3 })
    const to = producer()
    await appendAll(to, topic, numbered(30))
    const followed = await follow(topic, { from: 'end' })
    expect(followed.records).toEqual([])
    await appendAll(to, topic, numbered(30, 30))
    await followed.until(() => followed.records.length === 30)
    expect(new Set(followed.values)).toEqual(new Set(numbered(30, 30).map(({ value }) => String(value))))
  })

  it('begins at the first record since a time, or at the end when there is none', async () => {
    const topic = await newTopic({ partitions: 2, config: { 'message.timestamp.type': 'LogAppendTime' } })
    const to = producer()
    const put = (text: string, partition: number): Promise<void> =>
      append(to, topic, { value: Buffer.from(text), partition })
    await put('before', 0)
    await put('before', 1)
    const [first] = (await follow(topic)).records
    // Timestamps have a resolution of 1 ms, so the test waits for a later one.
    while (processClock.now() <= (first as LogRecord).timestamp + 1) await put('meanwhile', 0)
    const since = processClock.now()
    await put('after', 0)
    const followed = await follow(topic, { from: since })
    expect(followed.values.at(-1)).toBe('after')
    expect(followed.values).not.toContain('before')
    await put('later', 1)
    await followed.until(() => followed.values.includes('later'))
  })

  it.each([-1, Date.UTC(1960, 0)])('begins at the first record since a time before 1970 (%i)', async since => {
    const topic = await newTopic()
    await append(producer(), topic, { value: Buffer.from('first') })
    expect((await follow(topic, { from: epochMs(since) })).values).toEqual(['first'])
  })

  it('delivers nothing after a stop during a fetch', async () => {
    const topic = await newTopic()
    const followed = new RecordingFollower()
    const follower = createFollower({ kafka: kafka(), topic, clock: processClock, logger: silent })
    await follower.start(followed)
    await follower.stop()
    const { asOf } = followed
    await append(producer(), topic, { value: Buffer.from('late') })
    expect(followed).toMatchObject({ asOf, records: [] })
  })

  it('starts again after a start that failed because no broker listened', async () => {
    const topic = await newTopic()
    await append(producer(), topic, { value: Buffer.from('early') })
    const [, port] = brokers()[0]?.split(':') ?? []
    const { port: linked, set, close } = await startTcpProxy(Number(port))
    afterwards(close)
    set({ kind: 'cut' })
    const followed = new RecordingFollower()
    const follower = createFollower({
      kafka: kafka([`127.0.0.1:${linked}`]),
      topic,
      clock: processClock,
      logger: silent,
    })
    afterwards(() => follower.stop())
    await expect(follower.start(followed)).rejects.toMatchObject({ retriable: true })
    set({ kind: 'open' })
    await follower.start(followed)
    await followed.until(() => followed.values.includes('early'))
  })

  it('rejects the start when the topic is missing or no broker listens', async () => {
    const topic = uniqueName()
    await expect(follow(topic)).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
      message: `topic ${topic} does not exist`,
    })
    await expect(follow(topic, { kafka: kafka(['127.0.0.1:1']) })).rejects.toMatchObject({
      name: 'KafkaError',
      code: 'ECONNREFUSED',
    })
  })
})
