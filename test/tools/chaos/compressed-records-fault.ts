import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { peakMb } from '../bench/process-usage.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'
import type { BatchesToWrite } from './write-compressed-records.ts'

const mebibyte = 1_048_576
const maxDecompressedBytes = 64 * mebibyte
/**
 * Maximum resident memory of a process, in MB: its normal memory, plus the at most 64 MiB that
 * Hookline decompresses.
 */
const packedPeakMb = 700

/**
 * Writes two compressed batches: one larger than the topic's limit for uncompressed records, one
 * too large for Hookline to decompress.
 */
export const packedRecords: Fault = {
  name: 'compressed records',
  async inject({ cluster, installation, fleet, ledger }) {
    const at = now()
    const order: BatchesToWrite = {
      ...{ brokers: cluster.brokers, topic: installation.topics.events, partition: 0 },
      lengths: [5 * mebibyte, 200 * mebibyte],
    }
    const offsets = await write(order)
    for (const [index, bytes] of order.lengths.entries())
      ledger.oversized.push({
        ...{ partition: order.partition, offset: offsets[index] as number },
        bytes: bytes > maxDecompressedBytes ? undefined : bytes,
      })
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

/**
 * Writes the batches in another process. Resolves to their offsets.
 * @throws when the other process ends early
 */
async function write(order: BatchesToWrite): Promise<readonly number[]> {
  const child = fork(join(import.meta.dirname, 'write-compressed-records.ts'), [JSON.stringify(order)])
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the process that writes compressed records ended with ${code ?? signal}`)
  })
  const [offsets] = await Promise.race([once(child, 'message'), ended])
  return offsets
}
