import { setPriority } from 'node:os'
import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'

/*
 * Runs as a separate process, because the encoding blocks the event loop for seconds, but the
 * endpoints in the parent process must respond.
 */

/** Command line argument, as JSON. */
export interface BatchesToWrite {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly partition: number
  /** Decompressed length of each batch, in bytes. */
  readonly lengths: readonly number[]
}

if (import.meta.main) {
  setPriority(19)
  const { brokers, topic, partition, lengths } = JSON.parse(process.argv[2] as string) as BatchesToWrite
  const { CompressionTypes, Kafka, logLevel } = loadKafkajs()
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  const offsets: number[] = []
  for (const length of lengths) {
    const messages = [{ key: null, value: Buffer.alloc(length), partition }]
    const [written] = await producer.send({ topic, compression: CompressionTypes.GZIP, messages })
    offsets.push(Number(written?.baseOffset))
  }
  await producer.disconnect()
  process.send?.(offsets)
  process.disconnect()
}
