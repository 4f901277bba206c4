import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import {
  afterwards,
  append,
  consumer,
  kafka,
  newTopic,
  plainKafka,
  producer,
  Recorder,
} from './test-clients-and-topics.ts'

const mebibyte = 1024 * 1024
const bombBytes = 200 * mebibyte

async function sendPacked(topic: string, compression: 'GZIP' | 'ZSTD', value: Buffer): Promise<void> {
  const other = plainKafka().producer()
  await other.connect()
  afterwards(() => other.disconnect())
  await other.send({ topic, compression: loadKafkajs().CompressionTypes[compression], messages: [{ value }] })
}

describe('a batch that decompresses to 200 MB', () => {
  it.each(['GZIP', 'ZSTD'] as const)('%s: becomes one record; later records are delivered', async name => {
    const topic = await newTopic()
    await append(producer(), topic, { value: Buffer.from('before') })
    await sendPacked(topic, name, Buffer.alloc(bombBytes))
    await append(producer(), topic, { value: Buffer.from('after') })
    const recorder = new Recorder()
    // `sendPacked` has already freed its memory for the batch.
    const before = process.memoryUsage().rss
    await consumer([topic]).start(recorder)
    await recorder.until(() => recorder.records.length === 3)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * mebibyte)
    expect(recorder.values).toEqual(['before', null, 'after'])
    const { unreadBatch } = recorder.records[1] ?? {}
    expect(unreadBatch).toMatchObject({ firstOffset: 1 })
    expect(unreadBatch?.length).toBeLessThan(mebibyte)
  })

  it('is skipped by a reader', async () => {
    const topic = await newTopic()
    await sendPacked(topic, 'ZSTD', Buffer.alloc(bombBytes))
    await append(producer(), topic, { value: Buffer.from('after') })
    const values: (string | undefined)[] = []
    const reader = createReader({ kafka: kafka(), clock: processClock, logger: silent })
    await reader.readToEnd(topic, ({ value }) => void values.push(value?.toString()))
    expect(values).toEqual([undefined, 'after'])
  })
})

describe('a batch that brokers accept and Hookline cannot decompress', () => {
  it.each([
    { name: 'gzip with bytes after its end', type: 'GZIP', pack: (bytes: Buffer) => [gzipSync(bytes), Buffer.of(7)] },
    { name: 'zstd in two frames', type: 'ZSTD', pack: (bytes: Buffer) => [0, 9].map(at => zstdPart(bytes, at)) },
  ] as const)('$name: becomes one record, and later records are delivered', async ({ type, pack }) => {
    const topic = await newTopic()
    const { CompressionCodecs, CompressionTypes } = loadKafkajs()
    const kind = CompressionTypes[type]
    const codec = CompressionCodecs[kind]
    afterwards(async () => {
      CompressionCodecs[kind] = codec
    })
    CompressionCodecs[kind] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => Buffer.concat(pack(buffer)),
    })
    await sendPacked(topic, type, Buffer.from('written by somebody else'))
    await append(producer(), topic, { value: Buffer.from('after') })
    const recorder = new Recorder()
    await consumer([topic]).start(recorder)
    await recorder.until(() => recorder.records.length === 2)
    expect(recorder.values).toEqual([null, 'after'])
    expect(recorder.records[0]?.unreadBatch?.why).toMatch(
      /^the Kafka record batch of offsets 0 to \d+ cannot be read: /,
    )
  })

  const zstdPart = (bytes: Buffer, at: number): Buffer =>
    zstdCompressSync(at === 0 ? bytes.subarray(0, 9) : bytes.subarray(at))
})

describe('a record that is too large for its topic', () => {
  const failure = expect.objectContaining({ name: 'KafkaError', code: 'MESSAGE_TOO_LARGE', retriable: false })

  it('fails without a request when no broker accepts its size', async () => {
    const topic = await newTopic()
    const to = producer()
    await expect(append(to, topic, { value: Buffer.alloc(120 * mebibyte) })).rejects.toEqual(failure)
    await append(to, topic, { value: Buffer.from('x') })
  })

  it('may be stored in a topic with a higher limit', async () => {
    const topic = await newTopic({ config: { 'max.message.bytes': String(2 * mebibyte) } })
    await append(producer(), topic, { value: Buffer.alloc(mebibyte) })
  })
})
