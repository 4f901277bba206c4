import { describe, expect, it } from '@jest/globals'
import { KafkaError } from '../../../src/adapters/kafka/kafkajs/errors.ts'
import { durationMs } from '../../../src/core/time.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { startTcpProxy } from '../../support/network/tcp-proxy.ts'
import {
  afterwards,
  append,
  appendAll,
  brokers,
  consumer,
  eventually,
  growTo,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  producer,
  Recorder,
  uniqueName,
} from './test-clients-and-topics.ts'

describe('fetches', () => {
  it('continue at the offset of a seek, backwards and forwards', async () => {
    const topic = await newTopic()
    await appendAll(producer(), topic, numbered(5))
    const recorder = new Recorder()
    const seen: number[] = []
    const one = consumer([topic])
    recorder.onBatch = ({ records }) => {
      seen.push(...records.map(({ offset }) => offset))
      if (seen.length === 5) one.seek({ topic, partition: 0 }, 3)
    }
    await one.start(recorder)
    await recorder.until(() => seen.length === 7)
    expect(seen).toEqual([0, 1, 2, 3, 4, 3, 4])
  })

  it.each([
    { name: 'a small size returns 2 records', fetch: { perPartition: 25_000, total: 1_000_000 }, most: 2 },
    { name: 'the default size returns all 20', fetch: undefined, most: 20 },
  ])('are limited by the fetch size: $name', async ({ fetch, most }) => {
    const [topic, to] = [await newTopic(), producer()]
    // Each record is its own batch. The broker returns whole batches, so the fetch size has no
    // effect within one.
    for (let record = 0; record < 20; record++) await append(to, topic, { value: Buffer.alloc(10_000) })
    const recorder = new Recorder()
    await consumer([topic], { ...(fetch && { fetch }) }).start(recorder)
    await recorder.until(() => recorder.records.length === 20)
    expect(recorder.batches.map(({ records }) => records.length)).toEqual(new Array(20 / most).fill(most))
  })

  it('skip a paused partition until it is resumed', async () => {
    const topic = await newTopic({ partitions: 2 })
    const to = producer()
    const recorder = new Recorder()
    const one = consumer([topic])
    await one.start(recorder)
    one.pause({ topic, partition: 0 })
    await append(to, topic, { partition: 0, value: Buffer.from('paused') })
    for (const value of ['a', 'b', 'c']) {
      await append(to, topic, { partition: 1, value: Buffer.from(value) })
      await recorder.until(() => recorder.values.includes(value))
    }
    expect(recorder.values).toEqual(['a', 'b', 'c'])
    one.resume({ topic, partition: 0 })
    await recorder.until(() => recorder.values.includes('paused'))
  })

  it('include a resumed partition after maxWaitWhilePaused while another partition is paused', async () => {
    const topic = await newTopic({ partitions: 2 })
    const to = producer()
    const recorder = new Recorder()
    // `maxWait` is longer than the timeout of the test, so only `maxWaitWhilePaused` can end the
    // wait.
    const one = consumer([topic], { maxWait: durationMs(300_000), maxWaitWhilePaused: durationMs(100) })
    await one.start(recorder)
    one.pause({ topic, partition: 0 })
    await append(to, topic, { partition: 1, value: Buffer.from('before') })
    await recorder.until(() => recorder.values.includes('before'))
    one.pause({ topic, partition: 1 })
    await append(to, topic, { partition: 1, value: Buffer.from('paused') })
    one.resume({ topic, partition: 1 })
    await recorder.until(() => recorder.values.includes('paused'))
  })

  it('deliver 50,000 compressed records in parts, and stop between parts after a pause', async () => {
    const topic = await newTopic()
    const to = producer({ compression: 'GZIP' })
    const count = 50_000
    await appendAll(
      to,
      topic,
      Array.from({ length: count }, (_, index) => ({ value: Buffer.from(`${index}`) })),
    )
    const recorder = new Recorder()
    const one = consumer([topic])
    let handedWhilePaused = 0
    let isPaused = false
    recorder.onBatch = () => {
      if (isPaused) handedWhilePaused++
      if (recorder.records.length === 7_000 && !isPaused) {
        isPaused = true
        one.pause({ topic, partition: 0 })
        setImmediate(() => {
          isPaused = false
          one.resume({ topic, partition: 0 })
        })
      }
    }
    await one.start(recorder)
    await recorder.until(() => recorder.records.length === count)
    expect(Math.max(...recorder.batches.map(({ records }) => records.length))).toBe(1_000)
    expect(handedWhilePaused).toBe(0)
    expect(recorder.records.every(({ offset }, index) => offset === index)).toBe(true)
    expect(recorder.batches.at(-1)).toMatchObject({ nextOffset: count, highWatermark: count })
  })

  it('include partitions that are added to the topic', async () => {
    const topic = await newTopic()
    const recorder = new Recorder()
    await consumer([topic], { kafka: kafka(), metadataMaxAgeMs: 100 }).start(recorder)
    await growTo(2, topic)
    await recorder.until(() => recorder.events.includes('assigned 1@0'))
    expect(recorder.events).toEqual(['assigned 0@0', 'assigned 1@0'])
  })

  it('continue after another topic of the consumer was deleted', async () => {
    const [kept, deleted] = [await newTopic(), await newTopic()]
    const to = producer()
    const recorder = new Recorder()
    await consumer([kept, deleted], { metadataMaxAgeMs: 100 }).start(recorder)
    await append(to, deleted, { value: Buffer.from('before') })
    await recorder.until(() => recorder.records.length === 1)
    await (await plainAdmin()).deleteTopics({ topics: [deleted] })
    // The metadata expires several times while these records are read.
    for (let count = 2; count <= 20; count++) {
      await append(to, kept, { value: Buffer.from('after') })
      await recorder.until(() => recorder.records.length === count)
    }
    expect(recorder.events.filter(event => event.startsWith('assigned'))).toHaveLength(2)
  })

  it('cover several topics, one of them empty', async () => {
    const topics = [await newTopic(), await newTopic()]
    await append(producer(), topics[1] as string, { value: Buffer.from('x') })
    const recorder = new Recorder()
    await consumer(topics).start(recorder)
    await recorder.until(() => recorder.records.length === 1)
    expect(new Set(recorder.trackers.keys())).toEqual(new Set(topics.map(topic => `${topic}/0`)))
  })
})

describe('a consumer', () => {
  it('rejects the start with the name of a missing topic, and does not create it', async () => {
    const topic = uniqueName()
    await expect(consumer([await newTopic(), topic]).start(new Recorder())).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
      message: `topic ${topic} does not exist`,
    })
    expect(await (await plainAdmin()).listTopics()).not.toContain(topic)
  })

  it('repeats the requests before the join with "repeatUntilAnswered"', async () => {
    const topic = await newTopic()
    const [, port] = brokers()[0]?.split(':') ?? []
    const link = await startTcpProxy(Number(port))
    afterwards(link.close)
    link.set({ kind: 'cut' })
    let failed = 0
    const repeatUntilAnswered = async (ask: () => Promise<void>): Promise<void> => {
      await expect(ask()).rejects.toThrow()
      failed++
      link.set({ kind: 'open' })
      await ask()
    }
    await consumer([topic], { kafka: kafka([`127.0.0.1:${link.port}`]), repeatUntilAnswered }).start(new Recorder())
    expect(failed).toBe(1)
  })

  it('rejects the start when no broker listens', async () => {
    const starting = consumer([uniqueName()], { kafka: kafka(['127.0.0.1:1']) }).start(new Recorder())
    await expect(starting).rejects.toMatchObject({ name: 'KafkaError', code: 'ECONNREFUSED', retriable: true })
  })

  it('calls onFatal once and stops delivering when a handler throws', async () => {
    const topic = await newTopic()
    await appendAll(producer(), topic, numbered(3))
    const bug = new Error('bug')
    const fatal = Promise.withResolvers<KafkaError>()
    const recorder = new Recorder()
    recorder.onBatch = () => {
      throw bug
    }
    await consumer([topic], { onFatal: fatal.resolve }).start(recorder)
    const error = await fatal.promise
    expect(error).toBeInstanceOf(KafkaError)
    expect(error).toMatchObject({ code: 'BUG', cause: bug })
    expect(recorder.batches).toHaveLength(1)
  })

  it('keeps contact with the broker while all partitions are paused', async () => {
    const topic = await newTopic()
    const clock = new ManualClock()
    const one = consumer([topic], { clock })
    await one.start(new Recorder())
    one.pause({ topic, partition: 0 })
    await clock.advance(60_000)
    expect(one.timeSinceContact()).toBe(60_000)
    await eventually(
      () => new Promise(resolve => setImmediate(() => resolve(one.timeSinceContact()))),
      silence => silence === 0,
    )
  })

  it('can be stopped before it has joined, and stopped twice', async () => {
    const one = consumer([await newTopic()])
    const starting = one.start(new Recorder())
    await Promise.all([one.stop(), one.stop(), expect(starting).rejects.toMatchObject({ code: 'CLOSED' })])
  })
})
