import { attemptDetails, isRecorded, isResultRecorded } from '../../core/delivery/attempt-details-and-recording-rule.ts'
import {
  type AttemptFacts,
  attemptFacts,
  type EndedAttempt,
  encodeAttempt,
} from '../../core/delivery/attempt-facts-and-record.ts'
import type { Decision } from '../../core/delivery/decide.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LogProducer } from '../../core/ports.ts'
import type { RecordedAttempts } from '../../core/settings/schema-of-attempts-topic.ts'
import type { EpochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Delivery } from './delivery.ts'

/**
 * Writes records of attempts. No delivery waits for a write, and a failed write is not repeated.
 */
export interface AttemptRecords {
  /** Whether the configuration wants a record of this attempt. */
  wants(ended: Pick<EndedAttempt, 'carried' | 'attempt' | 'decision'>): boolean
  attempt(facts: AttemptFacts, ended: EndedAttempt, endedAt: EpochMs): void
  /** Writes the record of a decision without an attempt, if the configuration wants it. */
  result(delivery: Delivery, decision: Decision, at: EpochMs): void
}

/**
 * Maximum number of records, of about 400 bytes, that wait for an acknowledgement. Further ones are
 * dropped.
 */
const maxUnwritten = 5_000

export function createAttemptRecords(deps: {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'attempts'>
  readonly metrics: Metrics
  readonly recorded: RecordedAttempts
}): AttemptRecords {
  const { producer, topics, metrics, recorded } = deps
  let unwritten = 0

  /**
   * Writes a record with the message id as key, so that the timeline of a message reads only one
   * partition.
   */
  function write(messageId: string, text: string): void {
    if (unwritten >= maxUnwritten) return metrics.attemptRecords.inc({ result: 'dropped' })
    unwritten++
    const record = { key: Buffer.from(messageId), value: Buffer.from(text), headers: {} }
    producer.append(topics.attempts, record, error => {
      unwritten--
      metrics.attemptRecords.inc({ result: error === undefined ? 'written' : 'failed' })
    })
  }

  return {
    wants: ended => isRecorded(recorded, ended),
    attempt(facts, ended, endedAt) {
      const details = attemptDetails(ended, endedAt)
      write(facts.messageId, encodeAttempt({ ...facts, ...details }, ended.attempt.at))
    },
    result({ of, carried, event }, decision, at) {
      if (!isResultRecorded(recorded, { carried, decision })) return
      const attempt = { number: carried.attempt, at, calls: [], webhooksWithoutPermit: 0, isHeldUpByOthers: false }
      const ended = { carried, headers: of.record.headers, event, attempt, decision, elapsedMs: 0 }
      const record = { ...attemptFacts(ended, at), kind: 'result', ...attemptDetails(ended, at) }
      write(carried.messageId, encodeAttempt(record, at))
    },
  }
}
