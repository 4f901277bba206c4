import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { OpenRecord } from './delivery.ts'

/** Between two tries to write to a topic that does not take the record. */
const firstPauseMs = 500
const longestPauseMs = 10_000

export interface CopyDeps {
  readonly producer: LogProducer
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** What is written because of an open record: its copies, and reports of its end. */
export interface Copies {
  /**
   * Tries until the topic takes the record, or until the partition it came from is no longer ours: then its next owner
   * writes it, and `end` is told that it was not written here.
   */
  append(topic: string, record: OutgoingRecord, of: OpenRecord, end: (written: boolean) => void): void
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
  /** Written and not acknowledged yet. */
  unacknowledged(): number
}

export function createCopies({ producer, clock, metrics, logger }: CopyDeps): Copies {
  /** By topic: how many records wait for it to become writable. */
  const failing = new Map<string, number>()
  let unacknowledged = 0

  function append(topic: string, record: OutgoingRecord, of: OpenRecord, end: (written: boolean) => void): void {
    let isFailing = false
    const finish = (written: boolean): void => {
      unacknowledged--
      if (isFailing) countFailing(topic, -1)
      end(written)
      of.shard.ended()
    }
    const attempt = (pauseMs: number): void => {
      if (of.shard.revoked) return finish(false)
      producer.append(topic, record, error => {
        if (error === undefined) return finish(true)
        metrics.produceFailures.inc({ topic })
        logger.error({ topic, error: error.message, retryInMs: pauseMs }, 'record not written; its source offset waits')
        if (!isFailing) countFailing(topic, 1)
        isFailing = true
        clock.after(durationMs(pauseMs), () => attempt(Math.min(pauseMs * 2, longestPauseMs)))
      })
    }
    unacknowledged++
    of.shard.started()
    attempt(firstPauseMs)
  }

  function countFailing(topic: string, by: 1 | -1): void {
    const count = (failing.get(topic) ?? 0) + by
    if (count === 0) failing.delete(topic)
    else failing.set(topic, count)
  }

  return { append, unwritableTopics: () => [...failing.keys()], unacknowledged: () => unacknowledged }
}
