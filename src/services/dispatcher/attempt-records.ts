import { type AttemptFacts, encodeAttempt } from '../../core/delivery/attempt-facts.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LogProducer } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { EpochMs } from '../../core/units.ts'

/** Keeps a record of an attempt, for whoever watches (`hookline tail`): best effort, and nothing waits for it. */
export type RecordAttempt = (facts: AttemptFacts, at: EpochMs) => void

/** Some 300 bytes each: what a broker that is gone for a while may cost of memory. Beyond it records are dropped. */
const mostUnwritten = 5_000

export function createAttemptRecords(deps: {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'attempts'>
  readonly metrics: Metrics
}): RecordAttempt {
  const { producer, topics, metrics } = deps
  let unwritten = 0
  return (facts, at) => {
    if (unwritten >= mostUnwritten) return metrics.attemptRecords.inc({ result: 'dropped' })
    unwritten++
    const key = Buffer.from(facts.destination)
    producer.append(topics.attempts, { key, value: Buffer.from(encodeAttempt(facts, at)), headers: {} }, error => {
      unwritten--
      metrics.attemptRecords.inc({ result: error === undefined ? 'written' : 'failed' })
    })
  }
}
