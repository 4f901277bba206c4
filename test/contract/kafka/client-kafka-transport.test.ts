import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { Analytics } from '../../../packages/client/src/analytics.ts'
import type { Failure } from '../../../packages/client/src/failure.ts'
import type { QueueOptions } from '../../../packages/client/src/options.ts'
import { type KafkaTransportOptions, kafkaTransport } from '../../../packages/client-kafka/src/index.ts'
import { callTypes } from '../../../src/core/message/message.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { newRealEventsTopic, partitions } from '../../support/kafka/real-events-topic.ts'
import { startTcpProxy } from '../../support/network/tcp-proxy.ts'
import { afterwards } from './test-clients-and-topics.ts'

const closing = closingAfterEach()

function clientOf(options: KafkaTransportOptions, queue: QueueOptions = {}) {
  const sent: string[] = []
  const failures: Failure[] = []
  const analytics = closing(
    new Analytics({
      transport: kafkaTransport(options),
      onSent: ids => sent.push(...ids),
      onFailure: failure => failures.push(failure),
      ...queue,
    }),
  )
  return { analytics, sent, failures }
}

async function preparedPlace(brokers?: string[]) {
  const place = newRealEventsTopic(brokers)
  await Promise.all([place.createTopic(), place.registerSchema()])
  return place
}

// This test comes first, so that its retries in kafkajs, which continue for seconds, overlap with
// the later tests.
it('close keeps its time limit and reports all messages when no broker listens', async () => {
  const place = newRealEventsTopic([`127.0.0.1:${await freePorts(1)}`])
  await place.registerSchema()
  const { analytics, failures } = clientOf(place.options)
  for (let n = 0; n < 50; n += 1) analytics.track({ userId: `u-${n}`, event: 'E' })
  await analytics.close({ timeoutMs: 200 })
  expect(failures).toMatchObject([{ reason: 'out_of_time' }])
  expect(analytics.counts).toEqual({ queued: 50, sent: 0, failed: 50, dropped: 0, waiting: 0 })
})

describe('on a real broker', () => {
  it('writes every call to the partition of its key, in Hookline’s format', async () => {
    const place = await preparedPlace()
    const { analytics, sent } = clientOf(place.options)
    const before = Date.now()
    analytics.identify({ userId: 'u-1', traits: { plan: 'pro' } })
    analytics.track({ userId: 'u-2', event: 'Größe', properties: { total: 1.5 }, messageId: 'mine' })
    analytics.page({ anonymousId: 'a-3', name: 'Home' })
    analytics.screen({ userId: 'u-4', name: 'Main' })
    analytics.group({ userId: 'u-5', groupId: 'g' })
    analytics.alias({ userId: 'u-6', previousId: 'a-3' })
    await analytics.close()
    expect(analytics.counts).toEqual({ queued: 6, sent: 6, failed: 0, dropped: 0, waiting: 0 })

    const found = await place.events()
    expect(new Set(found.map(({ event }) => event.message.type))).toEqual(new Set(callTypes))
    expect(found.map(({ event }) => event.message.messageId).sort()).toEqual([...sent].sort())
    for (const { event, key, partition } of found) {
      expect(event).toMatchObject({ sourceId: 'web', canonical: true, destinationId: undefined, origin: undefined })
      expect(key).toBe(event.message.userId ?? event.message.anonymousId)
      expect(partition).toBe(partitionFor(Buffer.from(key), partitions))
      expect(event.receivedAt).toBeGreaterThanOrEqual(before)
      expect(event.message.timestamp).toBeLessThanOrEqual(event.receivedAt)
    }
    const track = found.find(({ event }) => event.message.type === 'track')?.event.message
    expect(track).toMatchObject({ messageId: 'mine', event: 'Größe', properties: '{"total":1.5}' })
  })

  it('opens no connection before the first message', async () => {
    const proxy = await startTcpProxy(1)
    afterwards(() => proxy.close())
    const here = `127.0.0.1:${proxy.port}`
    const { analytics } = clientOf({ source: 'web', brokers: [here], registry: { url: `http://${here}` } })
    await analytics.flush()
    await analytics.close()
    expect(proxy.connections()).toBe(0)
  })
})

describe('errors that need an operator', () => {
  it('a missing topic: messages fail immediately with the command to run, and no topic is created', async () => {
    const place = newRealEventsTopic()
    await place.registerSchema()
    const { analytics, failures } = clientOf(place.options)
    analytics.track({ userId: 'u', event: 'E', messageId: 'm' })
    await analytics.flush()
    const detail = `Kafka did not acknowledge the message: topic ${place.topic} does not exist; create it with: hookline topics apply.`
    expect(failures).toMatchObject([{ reason: 'refused', code: 'TOPIC_MISSING', detail, messageIds: ['m'] }])
    expect(await place.topics()).not.toContain(place.topic)
    await place.createTopic()
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.flush()
    expect(analytics.counts).toMatchObject({ sent: 1, failed: 1 })
  })

  it('a schema that is not registered: messages fail with the command to run', async () => {
    const place = newRealEventsTopic()
    await place.createTopic()
    const { analytics, failures } = clientOf(place.options)
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.flush()
    expect(failures).toMatchObject([
      {
        reason: 'refused',
        code: 'schema_not_registered',
        detail: expect.stringContaining('hookline schemas register'),
      },
    ])
    await place.registerSchema()
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.flush()
    expect(analytics.counts).toMatchObject({ sent: 1, failed: 1 })
  })
})

describe('transient errors', () => {
  it('a registry that is unavailable at first: later messages are sent when it responds', async () => {
    const place = await preparedPlace()
    const { port, pathname } = new URL(place.options.registry.url)
    const proxy = await startTcpProxy(Number(port))
    afterwards(() => proxy.close())
    proxy.set({ kind: 'cut' })
    const registry = { url: `http://127.0.0.1:${proxy.port}${pathname}` }
    const { analytics, failures } = clientOf({ ...place.options, registry }, { maxRetries: 0 })
    analytics.track({ userId: 'u', event: 'first' })
    await analytics.flush()
    expect(failures).toMatchObject([{ reason: 'retries_exhausted', code: 'registry_unavailable' }])
    proxy.set({ kind: 'open' })
    analytics.track({ userId: 'u', event: 'second' })
    await analytics.flush()
    expect((await place.events()).map(({ event }) => event.message.event)).toEqual(['second'])
  })

  it('a killed broker: every message is on the topic after its restart', async () => {
    const [dataDir, port] = [await mkdtemp(join(tmpdir(), 'hookline-contract-')), await freePorts(1)]
    const start = () => startBroker({ dataDir, port, throwAway: true })
    let broker = await start()
    afterwards(() => broker.stop())
    const place = await preparedPlace([broker.address])
    const { analytics, sent, failures } = clientOf(place.options)
    const track = (from: number) => {
      for (let n = from; n < from + 100; n += 1) analytics.track({ userId: `u-${n}`, event: 'E', messageId: `m-${n}` })
    }
    track(0)
    await analytics.flush()
    await broker.kill()
    track(100)
    const flushed = analytics.flush()
    broker = await start()
    await flushed
    expect(failures).toEqual([])
    const ids = Array.from({ length: 200 }, (_, n) => `m-${n}`).sort()
    expect([...sent].sort()).toEqual(ids)
    const stored = (await place.events()).map(({ event }) => event.message.messageId)
    expect([...new Set(stored)].sort()).toEqual(ids)
  })
})
