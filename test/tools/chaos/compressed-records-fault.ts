import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { peakMb } from '../bench/process-usage.ts'
import { allPartitions, onPartitions } from './recovery.ts'
import type { Fault } from './scenario.ts'

const now = (): number => performance.now()

const mebibyte = 1_048_576
/** Hookline stops decompressing a batch at this number of bytes. */
const maxDecompressedBytes = 64 * mebibyte
/**
 * Maximum resident memory, in MB, of a process that reads a batch of 200 MB (decompressed). It
 * covers the normal memory of the process, and the first 64 MiB of one batch.
 */
const packedPeakMb = 700

/**
 * Another producer writes two compressed batches. Decompressed, one has 5 MB, more than the topic
 * accepts without compression. The other one has 200 MB. The recovery ends when each partition has
 * delivered an event that was written after the batches.
 */
export const packedRecords: Fault = {
  name: 'compressed records',
  async inject({ cluster, installation, fleet, ledger }) {
    const { CompressionTypes, Kafka, logLevel } = loadKafkajs()
    const producer = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING }).producer()
    await producer.connect()
    const at = now()
    for (const bytes of [5 * mebibyte, 200 * mebibyte]) {
      const messages = [{ key: null, value: Buffer.alloc(bytes), partition: 0 }]
      const topic = installation.topics.events
      const [written] = await producer.send({ topic, compression: CompressionTypes.GZIP, messages })
      ledger.oversized.push({
        ...{ partition: 0, offset: Number(written?.baseOffset) },
        bytes: bytes > maxDecompressedBytes ? undefined : bytes,
      })
    }
    await producer.disconnect()
    return {
      what: '5 and 200 MB',
      at,
      recovery: onPartitions(allPartitions, now()),
      heal: async () =>
        fleet
          .members()
          .filter(({ service }) => peakMb(service.pid) > packedPeakMb)
          .map(({ name, service }) => `${name} had ${Math.round(peakMb(service.pid))} MB resident`),
    }
  },
}
