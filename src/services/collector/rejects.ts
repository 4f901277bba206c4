import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import { type RejectedRecord, rejectedRecord } from '../../core/collector/rejected-record.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Logger, LogProducer } from '../../core/ports.ts'
import { heldBytes } from './store.ts'

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly held: MemoryBudget
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Writes rejected messages to their topic, for whoever wants to know what is wrong at the sender's. Nobody waits for it, and what cannot be
 * written is counted and let go: its sender was told.
 */
export type KeepRejected = (rejected: readonly RejectedRecord[]) => void

export function createKeepRejected({ producer, topic, held, metrics, logger }: Deps): KeepRejected {
  function lost(count: number, why: string): void {
    metrics.collectorRejectsLost.inc({}, count)
    logger.debug({ topic, messages: count, why }, 'rejected messages are not kept')
  }

  return rejected => {
    const records = rejected.map(rejectedRecord)
    const bytes = heldBytes(records)
    if (!held.take(bytes)) return lost(records.length, 'no memory')
    let waiting = records.length
    for (const record of records)
      producer.append(topic, record, error => {
        if (error !== undefined) lost(1, error.message)
        waiting -= 1
        if (waiting === 0) held.giveBack(bytes)
      })
  }
}
