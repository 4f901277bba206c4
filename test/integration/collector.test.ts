import { describe, expect, it } from '@jest/globals'
import { systemClock as clock } from '../../src/adapters/clock/clock.ts'
import { createKafka } from '../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../src/adapters/kafka/producer/producer.ts'
import { createSourceKeys } from '../../src/core/collector/source-keys.ts'
import type { TrackingRequest } from '../../src/core/collector/tracking-api.ts'
import { SuppressionIndex } from '../../src/core/deletion/suppressions.ts'
import { keyOf, partitionFor } from '../../src/core/message/event.ts'
import { Secret } from '../../src/core/units.ts'
import { createCollectorService } from '../../src/services/collector/collector.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation } from '../support/process/test-installation.ts'
import { countingMetrics } from '../support/telemetry/counting-metrics.ts'
import { silent } from '../support/telemetry/silent-logger.ts'

const closing = closingAfterEach()
const partitions = 4
const mebibyte = 1_048_576

/** The real collector service on a real Kafka and registry, without its HTTP server. */
async function collectorOn({ topics, codec }: TestInstallation) {
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',')
  const kafka = createKafka({ brokers, clientId: 'test', tls: undefined, sasl: undefined }, silent)
  const producer = createProducer({ kafka, clock, logger: silent })
  closing({ close: () => producer.stop() })
  const counts = new Map<string, number>()
  const keys = createSourceKeys([{ id: 'web', writeKeys: [new Secret('web-key')] }])
  const service = createCollectorService({
    ...{ producer, codec, clock, topics, metrics: countingMetrics(counts), logger: silent },
    suppressions: new SuppressionIndex(),
    sources: () => keys,
    ratePerSource: undefined,
    memory: {
      bodies: { authenticated: mebibyte, keyless: mebibyte, perAddress: mebibyte },
      operators: mebibyte,
      records: 16 * mebibyte,
    },
  })
  const accept = (body: string, given: Partial<TrackingRequest> = {}) =>
    service.accept({
      ...{ type: undefined, headerKey: 'web-key', queryKey: undefined, strict: false },
      ...{ body, assign: () => true, receivedAt: clock.now(), ...given },
    })
  return { service, accept, counts, flush: () => producer.flush() }
}

describe('an accepted request', () => {
  it('with 2,500 messages: each is on the topic unchanged, in the partition of its user and in order', async () => {
    const installation = closing(await startInstallation({ topics: { partitions, replicationFactor: 1 } }))
    const { accept } = await collectorOn(installation)
    // Ids above 2^53, which a double cannot represent exactly.
    const userOf = (index: number): string => `90071992547409${String(93 + (index % 50)).padStart(3, '0')}`
    const texts = Array.from(
      { length: 2_500 },
      (_, index) =>
        `{"type":"track","userId":${userOf(index)},"event":"E","messageId":"m${index}","properties":{"n":${index}}}`,
    )
    const body = `{"batch":[${texts}],"context":{"library":{"name":"test"}},"sentAt":"${new Date().toISOString()}"}`
    expect(await accept(body)).toEqual({ kind: 'accepted', rejected: [] })

    const records = await installation.read(installation.topics.events)
    expect(records).toHaveLength(2_500)
    const seen = new Map<string, number>()
    for (const { key, value, partition, timestamp } of records) {
      const decoded = installation.codec.decode(value as Buffer, timestamp)
      if (decoded.kind !== 'event') throw new Error(decoded.kind)
      const { message, sourceId, canonical } = decoded.event
      const index = Number(message.messageId.slice(1))
      expect({ sourceId, canonical, userId: message.userId, properties: message.properties }).toEqual({
        ...{ sourceId: 'web', canonical: true, userId: userOf(index), properties: `{"n":${index}}` },
      })
      expect(message.context).toBe('{"library":{"name":"test"}}')
      expect(key?.toString()).toBe(keyOf(message))
      expect(partition).toBe(partitionFor(key as Buffer, partitions))
      expect(index).toBeGreaterThan(seen.get(message.userId as string) ?? -1)
      seen.set(message.userId as string, index)
    }
  })

  it('with some rejected messages: those are on the rejected topic, unchanged', async () => {
    const installation = closing(await startInstallation({}))
    const { accept, flush } = await collectorOn(installation)
    const answer = await accept('{"batch":[{"type":"page","userId":"u"},{"type":"page","a":NaN},{"messageId":"m"}]}')
    expect(answer).toMatchObject({ kind: 'accepted', rejected: [{ index: 1 }, { index: 2, messageId: 'm' }] })
    await flush()
    expect(await installation.read(installation.topics.events)).toHaveLength(1)
    const rejects = await installation.read(installation.topics.rejected)
    const said = rejects.map(({ key, value }) => ({ key: key?.toString(), ...JSON.parse(String(value)) }))
    expect(said.sort((a, b) => a.index - b.index)).toMatchObject([
      { key: undefined, source: 'web', code: 'invalid_json', index: 1, text: '{"type":"page","a":NaN}' },
      { key: 'm', source: 'web', code: 'unknown_type', index: 2, messageId: 'm', text: '{"messageId":"m"}' },
    ])
  })
})

describe('a topic that rejects records', () => {
  it('events topic: the sender must retry, and the first stored record ends the outage', async () => {
    const installation = closing(await startInstallation({}))
    const admin = closing(await createAdminClient())
    const { accept, service, counts } = await collectorOn(installation)
    const body = '{"batch":[{"type":"page","userId":"u","messageId":"a"}]}'
    await admin.setTopicConfig(installation.topics.events, { 'max.message.bytes': '10' })
    expect(await accept(body)).toMatchObject({ kind: 'refused', code: 'unavailable', retryAfter: 5 })
    expect(await accept(body)).toMatchObject({ code: 'unavailable' })
    // The second record was rejected without an attempt.
    expect(counts.get(`produceFailures{${installation.topics.events}}`)).toBe(1)
    service.refreshGauges()
    expect(counts.get('collectorHeldBytes{records}')).toBe(0)

    await admin.setTopicConfig(installation.topics.events, {})
    let answer = await accept(body)
    while (answer.kind === 'refused') answer = await accept(body)
    expect(await accept(body)).toEqual({ kind: 'accepted', rejected: [] })
    expect(await installation.read(installation.topics.events)).toHaveLength(2)
  })

  it('with rejected messages: the others are accepted', async () => {
    const installation = closing(await startInstallation({}))
    const admin = closing(await createAdminClient())
    const { accept, flush, counts } = await collectorOn(installation)
    await admin.setTopicConfig(installation.topics.rejected, { 'max.message.bytes': '10' })
    expect(await accept('[{"type":"page","userId":"u"},1]')).toMatchObject({
      kind: 'accepted',
      rejected: [{ index: 1 }],
    })
    await flush()
    expect(counts.get('collectorRejectsLost{}')).toBe(1)
    expect(await installation.read(installation.topics.events)).toHaveLength(1)
  })
})
