import { expect, it } from '@jest/globals'
import { processClock } from '../../src/adapters/clock/process-clock.ts'
import { createConsumer } from '../../src/adapters/kafka/group/consumer.ts'
import type { KafkaClient } from '../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../src/adapters/kafka/log/topic-reader.ts'
import { createProducer } from '../../src/adapters/kafka/producer/producer.ts'
import type { AudienceInput } from '../../src/core/audience/input.ts'
import { type MembershipRecord, parseMembershipKey } from '../../src/core/audience/membership-and-watermark-records.ts'
import type { Event } from '../../src/core/message/event.ts'
import type { EventCodec, LogProducer, LogRecord } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/time.ts'
import { topicConfig, topicNames, topicSpecs } from '../../src/core/topics.ts'
import { createAudiencesService } from '../../src/services/audiences/audiences.ts'
import { reportOf } from '../../src/services/dispatcher/report-for-audience-or-deletion.ts'
import { brokers, eventually, kafka, newTopic, uniqueName } from '../contract/kafka/test-clients-and-topics.ts'
import { directoryWith, ended, observed } from '../support/audience/partition-harness.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { JsonValueCodec } from '../support/kafka/json-codec.ts'
import { kafkaBehind } from '../support/kafka/kafka-behind-proxy.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { countingMetrics } from '../support/telemetry/counting-metrics.ts'
import { silent } from '../support/telemetry/silent-logger.ts'

const size = 600
const users = Array.from({ length: size }, (_, index) => `user-${index}`)
const closing = closingAfterEach()
const inputs = new JsonValueCodec<AudienceInput>()
const memberships = new JsonValueCodec<MembershipRecord>()
const events = new JsonValueCodec<Event>()

function closingProducer(producer: LogProducer): LogProducer {
  closing({ close: () => producer.stop() })
  return producer
}

/** Creates the topics of an installation. In place of a dispatcher, the test calls `deliver`. */
async function installation() {
  const prefix = uniqueName()
  const topics = topicNames(prefix)
  const specs = topicSpecs({ prefix, partitions: 2, replicationFactor: 1 }, [])
  await Promise.all(specs.map(spec => newTopic({ name: spec.name, partitions: 2, config: topicConfig(spec) })))
  const producer = closingProducer(createProducer({ kafka: kafka(), clock: processClock, logger: silent }))
  const reader = createReader({ kafka: kafka(), clock: processClock, logger: silent })
  const told = new Map<string, number>()
  const delivered = new Map<number, number>()

  const read = async (topic: string): Promise<readonly LogRecord[]> => {
    const records: LogRecord[] = []
    await reader.readToEnd(topic, record => void records.push(record))
    return records
  }
  const write = async (...all: readonly AudienceInput[]): Promise<void> => {
    await Promise.all(
      all.flatMap(input => {
        const value = inputs.encode(input)
        if ('userId' in input) return stored(producer, topics.audienceInput, { key: Buffer.from(input.userId), value })
        return [0, 1].map(partition => stored(producer, topics.audienceInput, { key: null, value, partition }))
      }),
    )
  }

  return {
    topics,
    told,
    write,
    async deliver(): Promise<void> {
      const all = await read(topics.events)
      const fresh = all.filter(({ partition, offset }) => offset >= (delivered.get(partition) ?? 0))
      for (const { partition, offset } of fresh) delivered.set(partition, offset + 1)
      for (const { value } of fresh) {
        const event = JSON.parse(String(value)) as Event
        told.set(event.message.userId as string, (told.get(event.message.userId as string) ?? 0) + 1)
        const report = reportOf(event, 'crm', 'delivered')
        if (report?.kind === 'audience') await write(report.input)
      }
    },
    async last(): Promise<ReadonlyMap<string, MembershipRecord>> {
      const last = new Map<string, MembershipRecord>()
      for (const { key, value } of await read(topics.memberships)) {
        const about = parseMembershipKey(String(key))
        if (about !== undefined && 'userId' in about && value !== null)
          last.set(about.userId, JSON.parse(String(value)) as MembershipRecord)
      }
      return last
    },
    records: async () => (await read(topics.memberships)).length,
    async run(client: KafkaClient, onAppend?: (topic: string) => void) {
      const to = closingProducer(createProducer({ kafka: client, clock: processClock, logger: silent }))
      const watched: LogProducer = {
        append(topic, record, onAck) {
          to.append(topic, record, onAck)
          onAppend?.(topic)
        },
        flush: () => to.flush(),
        stop: () => to.stop(),
      }
      const service = createAudiencesService({
        consumer: createConsumer({
          ...{ kafka: client, groupId: topics.audiencesGroup, topics: [topics.audienceInput], clock: processClock },
          ...{ logger: silent, maxWait: durationMs(100), onFatal: () => undefined, onPositionLost: () => undefined },
        }),
        reader: createReader({ kafka: client, clock: processClock, logger: silent }),
        readEndOffsets: async () => [],
        producer: watched,
        codecs: { events: events as unknown as EventCodec, inputs, memberships },
        ...{ clock: processClock, metrics: countingMetrics(new Map()), logger: silent, topics },
        directory: () => directoryWith(['crm']),
        emitPerSecond: () => 100_000,
        suppressions: { stops: () => undefined, age: () => durationMs(0) },
      })
      await service.start()
      let stopped: Promise<void> | undefined
      const stop = (): Promise<void> => {
        stopped ??= service.stop()
        return stopped
      }
      closing({ close: stop })
      return { stop }
    },
  }
}

const stored = (
  producer: LogProducer,
  topic: string,
  record: { key: Buffer | null; value: Buffer; partition?: number },
): Promise<void> =>
  new Promise((resolve, reject) =>
    producer.append(topic, { ...record, headers: {} }, error => (error === undefined ? resolve() : reject(error))),
  )

const acknowledged = (last: ReadonlyMap<string, MembershipRecord>): number =>
  [...last.values()].filter(({ membership }) => membership?.inFlight === null && membership.acknowledged === 'true')
    .length

it('a link cut during a sync: states that arrive after the revocation change nothing, even after a restart', async () => {
  const place = await installation()
  const proxy = closing(await startTcpProxy(Number(brokers()[0]?.split(':')[1])))
  let states = 0
  const cut = Promise.withResolvers<void>()
  await place.run(kafkaBehind(proxy, brokers()), topic => {
    // From the 200th membership record on, the proxy holds the writes of the service.
    if (topic !== place.topics.memberships || ++states !== 200) return
    proxy.set({ kind: 'held' })
    cut.resolve()
  })
  await place.write(...users.map(userId => observed(userId, 0)), ended(0))
  await cut.promise

  const second = await place.run(kafka())
  const settled = async (): Promise<number> => {
    await place.deliver()
    return acknowledged(await place.last())
  }
  await eventually(settled, count => count === size)

  // The held writes of the first process arrive.
  const before = await place.records()
  proxy.set({ kind: 'open' })
  await eventually(place.records, count => count > before)
  await place.write(observed('user-new', 1, 'true', 'partial'), observed('user-also', 1, 'true', 'partial'))
  await eventually(settled, count => count === size + 2)
  await second.stop()

  const third = await place.run(kafka())
  await place.write(...[...users, 'user-new', 'user-also'].map(userId => observed(userId, 2)), ended(2))
  await place.write(observed('last-0', 3, 'true', 'partial'), observed('last-1', 3, 'true', 'partial'))
  await eventually(settled, count => count === size + 4)
  // A sync without changes sends nothing, so only changes in progress at the cut are sent twice.
  for (const userId of users) expect(place.told.get(userId)).toBeLessThanOrEqual(2)
  expect(place.told.get('user-new')).toBe(1)
  await third.stop()
})
