import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import { isTooLarge } from '../is-record-too-large.ts'
import type { OwnershipGate } from './ownership-gate.ts'
import type { PartitionProcessor } from './partition-processor.ts'

const { firstRetryMs, maxRetryMs } = flowLimits.append

export interface AppendDeps {
  readonly producer: LogProducer
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  /** Delays appends while the group does not confirm this process as the owner of the partition. */
  readonly gate: Pick<OwnershipGate, 'toWrite'>
}

/** Appends the records that result from a consumed record, until Kafka has stored all of them. */
export interface Appends {
  /**
   * Appends a record, with retries until Kafka stores it; `end` gets false if the partition is
   * revoked first. If the record is too large, calls `tooLarge` instead of `end`. `tooLarge` must
   * end the work in another way, for example with a smaller record. Without it, retries continue.
   */
  append(
    topic: string,
    record: OutgoingRecord,
    of: PartitionProcessor,
    end: (written: boolean) => void,
    tooLarge?: (error: Error) => void,
  ): void
  /** Topics with a failed append that is being retried. */
  unwritableTopics(): readonly string[]
  /** Number of records that were appended and that Kafka has not acknowledged yet. */
  unacknowledged(): number
}

export function createAppends({ producer, clock, metrics, logger, gate }: AppendDeps): Appends {
  /** Number of records that are being retried, by topic. */
  const failing = new Map<string, number>()
  let unacknowledged = 0

  function append(
    topic: string,
    given: OutgoingRecord,
    of: PartitionProcessor,
    end: (written: boolean) => void,
    tooLarge?: (error: Error) => void,
  ): void {
    // The producer calls `maySend` when it sends the record: the partition may be revoked by then.
    const record = { ...given, maySend: () => of.mayWrite }
    let isFailing = false
    const finish = (next: () => void): void => {
      unacknowledged--
      if (isFailing) countFailing(topic, -1)
      next()
      of.ended()
    }
    const write = (pauseMs: number): void => {
      if (of.revoked) return finish(() => end(false))
      producer.append(topic, record, error => {
        if (error === undefined) return finish(() => end(true))
        if (tooLarge !== undefined && isTooLarge(error)) return finish(() => tooLarge(error))
        // The producer did not send the record, because `maySend` returned false. So this error is
        // not a failure of Kafka.
        if (!of.mayWrite) return attempt(pauseMs)
        metrics.produceFailures.inc({ topic })
        logger.error(
          { topic, error: error.message, retryInMs: pauseMs },
          'hookline cannot write a record to the topic (see "topic" and "error"); it tries again until Kafka stores the record, so nothing is lost, but messages are late; correct the cause of the error',
        )
        if (!isFailing) countFailing(topic, 1)
        isFailing = true
        clock.after(durationMs(pauseMs), () => attempt(Math.min(pauseMs * 2, maxRetryMs)))
      })
    }
    const attempt = (pauseMs: number): void => {
      if (of.mayWrite) write(pauseMs)
      else void gate.toWrite(of).then(() => write(pauseMs))
    }
    unacknowledged++
    of.started()
    attempt(firstRetryMs)
  }

  function countFailing(topic: string, by: 1 | -1): void {
    const count = (failing.get(topic) ?? 0) + by
    if (count === 0) failing.delete(topic)
    else failing.set(topic, count)
  }

  return { append, unwritableTopics: () => [...failing.keys()], unacknowledged: () => unacknowledged }
}
