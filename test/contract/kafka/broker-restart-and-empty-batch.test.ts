import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Broker, startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createFollower } from '../../../src/adapters/kafka/log/topic-follower.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { Logger, LogRecord } from '../../../src/core/ports.ts'
import { RecordingFollower } from '../../support/kafka/recording-follower-handlers.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import {
  afterwards,
  append,
  appendAll,
  committed,
  consumer,
  eventually,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  plainKafka,
  producer,
  Recorder,
  uniqueName,
} from './test-clients-and-topics.ts'

/** Makes the log cleaner start its next compaction after at most 100 ms. */
const properties = { 'log.cleaner.backoff.ms': '100' }
let dataDir: string
let port: number
let broker: Broker
const on = (): string[] => [broker.address]

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hookline-contract-'))
  port = await freePorts(1)
  broker = await startBroker({ dataDir, port, properties, throwAway: true })
})
afterAll(() => broker?.stop())

async function restart(how: 'stop' | 'kill'): Promise<void> {
  // `broker.stop()` would also delete the data.
  if (how === 'kill') await broker.kill()
  else {
    process.kill(broker.pid, 'SIGTERM')
    await broker.ended
  }
  broker = await startBroker({ dataDir, port, properties, throwAway: true })
}

async function follow(topic: string, logger: Logger = silent): Promise<RecordingFollower> {
  const followed = new RecordingFollower()
  const follower = createFollower({ kafka: kafka(on()), topic, clock: processClock, logger })
  afterwards(() => follower.stop())
  await follower.start(followed)
  return followed
}

it.each(['stop', 'kill'] as const)('a follower survives the %s and restart of the broker', async how => {
  const topic = await newTopic({ on: on(), partitions: 2 })
  const to = producer({ kafka: kafka(on()) })
  await appendAll(to, topic, numbered(20))
  const logger = new RecordingLogger()
  const followed = await follow(topic, logger)
  await restart(how)
  await eventually(
    () =>
      append(to, topic, { value: Buffer.from('after') }).then(
        () => true,
        () => false,
      ),
    Boolean,
  )
  const acknowledgedAt = processClock.monotonic()
  await followed.until(() => followed.asOf > acknowledgedAt)
  expect(new Set(followed.values)).toEqual(new Set([...numbered(20).map(({ value }) => String(value)), 'after']))
  expect(new Set(followed.records.map(({ partition, offset }) => `${partition}/${offset}`)).size).toBe(
    followed.records.length,
  )
  expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([])
})

it.each(['stop', 'kill'] as const)('consumer and producer survive the %s and restart of the broker', async how => {
  const topic = await newTopic({ on: on(), partitions: 2 })
  const groupId = uniqueName()
  const to = producer({ kafka: kafka(on()) })
  const recorder = new Recorder()
  const one = consumer([topic], { kafka: kafka(on()), groupId })
  await one.start(recorder)
  await appendAll(to, topic, numbered(20))
  await recorder.until(() => recorder.records.length === 20)

  const restarting = restart(how)
  // The retries of the producer end before the broker is back, so the test appends again.
  const again = async (record: { value: Buffer }): Promise<void> => {
    await eventually(
      () =>
        append(to, topic, record).then(
          () => true,
          () => false,
        ),
      Boolean,
    )
  }
  await Promise.all([restarting, ...numbered(20, 20).map(again)])
  await recorder.until(() => new Set(recorder.values).size === 40)
  // The restarted broker has read the group's members from its log, so no partition is reassigned.
  expect(recorder.events.toSorted()).toEqual(['assigned 0@0', 'assigned 1@0'])
  const admin = await plainAdmin(on())
  await eventually(
    // A broker that has just started may not have a group coordinator yet.
    () => committed(admin, groupId, topic).catch(() => []),
    offsets => offsets.reduce((sum, offset) => sum + offset, 0) >= 40,
  )
})

/**
 * A topic whose first segment has only an empty batch: compaction keeps the last batch of an
 * idempotent producer, without records.
 */
async function cleanedTopic(): Promise<string> {
  const topic = await newTopic({
    on: on(),
    config: {
      'cleanup.policy': 'compact',
      'segment.bytes': String(1024 * 1024),
      'min.cleanable.dirty.ratio': '0.01',
      'max.compaction.lag.ms': '500',
    },
  })
  const idempotent = plainKafka(on()).producer({ idempotent: true, maxInFlightRequests: 1 })
  await idempotent.connect()
  const keys = ['a', 'b', 'c', 'd', 'e']
  for (const key of keys)
    await idempotent.send({ topic, messages: [{ key, value: Buffer.alloc(100_000), partition: 0 }] })
  await idempotent.disconnect()
  const to = producer({ kafka: kafka(on()) })
  const put = (key: string, bytes: number): Promise<void> =>
    append(to, topic, { key: Buffer.from(key), value: Buffer.alloc(bytes) })
  await put('big', 1_048_400)
  for (const key of keys) await put(key, 100_000)
  for (let index = 0; index < 12; index++) await put(`filler-${index}`, 100_000)
  return topic
}

it('reads a compacted log to its end when a segment has only an empty batch', async () => {
  const topic = await cleanedTopic()
  const reader = createReader({ kafka: kafka(on()), clock: processClock, logger: silent })
  const contents = async (): Promise<LogRecord[]> => {
    const records: LogRecord[] = []
    await reader.readToEnd(topic, record => {
      records.push(record)
    })
    return records
  }
  const cleaned = await eventually(contents, records => (records[0]?.offset ?? 0) >= 5)
  expect(cleaned.map(({ key }) => key?.toString()).slice(0, 3)).toEqual(['big', 'a', 'b'])

  const recorder = new Recorder()
  await consumer([topic], { kafka: kafka(on()) }).start(recorder)
  await recorder.until(() => recorder.values.length === cleaned.length)
  expect(recorder.records).toEqual(cleaned)
  // On a slow machine, a second run of the log cleaner may already have removed the empty batch.
  const [{ records = [], nextOffset } = {}] = recorder.batches
  expect(nextOffset).toBe(records.length === 0 ? 5 : 5 + records.length)

  expect((await follow(topic)).records).toEqual(cleaned)
})
