import { type Carried, deadLetterRecord, retryRecord } from '../../core/delivery/carried.ts'
import type { Decision } from '../../core/delivery/decide.ts'
import type { DeadLetterReason } from '../../core/delivery/outcome.ts'
import type { RejectionCode } from '../../core/message/message.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { assertNever, durationMs, formatDuration } from '../../core/units.ts'
import type { Delivery, OpenRecord } from './delivery.ts'

/** Between two tries to write to a topic that does not take the record. */
const firstPauseMs = 500
const longestPauseMs = 10_000

interface Deps {
  readonly producer: LogProducer
  readonly topics: TopicNames
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Carries decisions out. A record is released only when it is delivered, dropped, or its copy is acknowledged by all replicas. */
export interface Settle {
  /** `ended` is called when the delivery needs nothing more here. */
  delivery(delivery: Delivery, decision: Decision, ended: () => void): void
  /** A record that no destination can be given: to the dead-letter topic as it is. */
  refused(
    open: OpenRecord,
    reason: DeadLetterReason,
    known?: { code?: RejectionCode; carried?: Partial<Carried> | undefined },
  ): void
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
  /** Copies written and not acknowledged yet. */
  unacknowledged(): number
}

export function createSettle({ producer, topics, clock, metrics, logger }: Deps): Settle {
  /** By topic: how many records wait for it to become writable. */
  const failing = new Map<string, number>()
  let unacknowledged = 0

  /**
   * Tries until the topic takes the record, or until the partition it came from is no longer ours: then its next owner
   * writes it, and `end` is told that it was not written here.
   */
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

  function delivery({ of, carried }: Delivery, decision: Decision, ended: () => void): void {
    const end = (settled: boolean): void => {
      if (settled) count(carried, decision)
      of.release()
      ended()
    }
    switch (decision.kind) {
      case 'delivered':
      case 'dropped':
        return end(true)
      case 'deferred':
      case 'retried':
        return append(topics.retry(decision.tier), retryRecord(of.record, decision.carried), of, end)
      case 'dead_lettered':
        return append(topics.deadLetter, deadLetterRecord(of.record, decision.carried, decision.reason), of, end)
      default:
        return assertNever(decision)
    }
  }

  function count({ destination, attempt, origin }: Carried, decision: Decision): void {
    metrics.deliveries.inc({ destination, result: decision.kind })
    if (decision.kind === 'delivered' && attempt > 0)
      metrics.retriedDelivery.observe({}, Math.max(0, clock.now() - origin.timestamp) / 1000)
    if ('tier' in decision) metrics.parked.inc({ tier: formatDuration(decision.tier) })
    if (decision.kind === 'deferred') metrics.deferrals.inc({ cause: decision.cause })
    if (decision.kind === 'dropped') metrics.drops.inc({ reason: decision.reason })
    if (decision.kind === 'dead_lettered') metrics.deadLetters.inc({ destination, reason: decision.reason })
  }

  function refused(open: OpenRecord, reason: DeadLetterReason, known: Parameters<Settle['refused']>[2] = {}): void {
    append(topics.deadLetter, deadLetterRecord(open.record, known.carried, reason, known.code), open, written => {
      // The event may name any destination: as a label it would be unbounded.
      if (written) metrics.deadLetters.inc({ destination: '-', reason })
      open.release()
    })
  }

  return { delivery, refused, unwritableTopics: () => [...failing.keys()], unacknowledged: () => unacknowledged }
}
