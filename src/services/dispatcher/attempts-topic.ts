import { type AttemptFacts, encodeAttempt } from '../../core/delivery/attempt-facts.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LogProducer } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'

/**
 * Writes the facts of an attempt to the attempts topic, for `hookline tail`. Best effort: nothing
 * waits for the write.
 */
export type RecordAttempt = (facts: AttemptFacts, at: EpochMs) => void

/**
 * Maximum number of records that are not acknowledged, of about 300 bytes each. While no broker can
 * be reached, further records are dropped.
 */
const maxUnwritten = 5_000

export function createAttemptRecords(deps: {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'attempts'>
  readonly metrics: Metrics
}): RecordAttempt {
  const { producer, topics, metrics } = deps
  let unwritten = 0
  return (facts, at) => {
    if (unwritten >= maxUnwritten) return metrics.attemptRecords.inc({ result: 'dropped' })
    unwritten++
    const key = Buffer.from(facts.destination)
    producer.append(topics.attempts, { key, value: Buffer.from(encodeAttempt(facts, at)), headers: {} }, error => {
      unwritten--
      metrics.attemptRecords.inc({ result: error === undefined ? 'written' : 'failed' })
    })
  }
}
