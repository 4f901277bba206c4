import { describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import type { JsonText } from '../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../src/core/message/event.ts'
import { epochMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const mebibyte = 1024 * 1024

/** Writes one record to the first partition, with a producer that is not Hookline's. */
async function sendPacked(topic: string, compression: 'None' | 'GZIP' | 'ZSTD', value: Buffer): Promise<void> {
  const { CompressionTypes, Kafka, logLevel } = loadKafkajs()
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',')
  const producer = new Kafka({ brokers, clientId: 'others', logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  const messages = [{ key: null, value, partition: 0 }]
  await producer.send({ topic, compression: CompressionTypes[compression], messages })
  await producer.disconnect()
}

describe('records that no dispatcher can deliver', () => {
  it('go to the dead-letter topic, truncated to its limit; the same process delivers the records after them', async () => {
    const receiver = closing(await RecordingReceiver.started())
    const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }]
    const installation = closing(await startInstallation({ destinations }))
    const { topics, codec } = installation
    const [event] = trackEvents(1, 'bad') as [Event]
    const recordWith = (given: Partial<Event>, message: Partial<Event['message']> = {}): Buffer =>
      codec.encode({ ...event, ...given, message: { ...event.message, ...message } })

    await sendPacked(topics.events, 'None', Buffer.alloc(1_048_400, 'x'))
    const huge = `{"x":"${'y'.repeat(5 * mebibyte)}"}` as JsonText
    await sendPacked(topics.events, 'GZIP', recordWith({ canonical: false }, { properties: huge }))
    await sendPacked(topics.events, 'ZSTD', Buffer.alloc(200 * mebibyte))
    const forged = [
      recordWith({}, { type: 'page', properties: '{"name":}' as JsonText }),
      recordWith({}, { timestamp: epochMs(9e15) }),
      recordWith({}, { messageId: 'a\r\nX-Admin: 1' }),
      recordWith({ origin: { kind: 'deletion', id: 'd-1', version: undefined } }, { type: 'delete', userId: 'victim' }),
    ]
    for (const value of forged) await sendPacked(topics.events, 'None', value)
    await installation.write(topics.events, [{ key: null, value: codec.encode(event), headers: {}, partition: 0 }])

    const service = await installation.run()
    await receiver.untilDelivered(1)
    expect(receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['track'])
    const deadLetters = await until(async () => {
      const found = await installation.read(topics.deadLetter)
      return found.length === 7 ? found : undefined
    })
    const byOffset = deadLetters.toSorted((a, b) => offsetOf(a) - offsetOf(b))
    expect(byOffset.map(({ headers }) => `${headers['reason']} ${headers['outcomes']}`)).toEqual([
      ...['undecodable ', 'invalid_message message_too_large', 'undecodable '],
      ...['undecodable ', 'undecodable ', 'undecodable ', 'undecodable '],
    ])
    const lengths = byOffset.map(({ value, headers }) => [value?.length, Number(headers['original-length'])])
    expect(lengths[0]).toEqual([1_048_400, Number.NaN])
    expect(lengths[1]).toEqual([65_536, expect.any(Number)])
    expect(lengths[1]?.[1]).toBeGreaterThan(5 * mebibyte)
    expect(lengths[2]?.[1]).toBeLessThan(100_000)
    const metrics = await service.metrics()
    expect(metrics.get('hookline_truncated_dead_letters_total{reason="undecodable"}')).toBe(1)
    expect(metrics.get('hookline_record_failures_total')).toBe(0)
    expect(metrics.get('process_resident_memory_bytes')).toBeLessThan(700 * mebibyte)
    const replayed = await installation.command('replay', '--reason', 'invalid_message', '--dry-run', '--json')
    expect(JSON.parse(replayed)).toMatchObject({ refused: { truncated: 1 } })
    expect(await service.stop()).toBe(0)
  })
})

const offsetOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): number =>
  Number(headers['origin-offset'])
