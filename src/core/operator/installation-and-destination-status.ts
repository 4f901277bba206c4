import type { ObjectKind } from '../config-objects/config-objects.ts'
import type { Counts } from '../live-status/result-counts.ts'
import type { BreakerState } from '../live-status/status-record.ts'
import type { TimelineAttempt } from './destination-timeline.ts'
import type { ShownProblem } from './object-refusal.ts'
import type { DestinationState, DisablingView } from './object-view.ts'

/**
 * The number of records that a consumer group has not yet processed (`lag`), for each topic that it
 * reads.
 */
export interface GroupLag {
  readonly group: string
  readonly topics: readonly { readonly topic: string; readonly lag: number }[]
}

/** Records that wait in the retry topic of one tier, for example `30s`. */
export interface Waiting {
  readonly tier: string
  readonly records: number
}

/** The state of the installation, as far as one process can know it. */
export interface InstallationStatus {
  /** When the status was read; ISO 8601, UTC. */
  readonly at: string
  /** The version of the process that answers the request. */
  readonly version: string
  /**
   * Present when the status is incomplete. If Kafka did not report all offsets, `groups` and
   * `waiting` have gaps. If the status topic is not read to its end, `rates`, `openBreakers` and
   * `services` have gaps.
   */
  readonly partial?: true | undefined
  readonly groups: readonly GroupLag[]
  readonly waiting: readonly Waiting[]
  readonly destinations: Readonly<Record<DestinationState, number>>
  readonly sources: { readonly enabled: number; readonly excluded: number }
  /**
   * The first 100 objects that are not in force: they have problems, or the configuration file has
   * an object of the same id.
   */
  readonly problems: readonly ObjectProblems[]
  /** Number of all objects that are not in force. */
  readonly problemCount: number
  /**
   * The sums of the rates that the processes last reported. Each process reports its rates about
   * every 5 s.
   */
  readonly rates: ShownRates
  /** The first 100 destinations whose circuit breaker is not closed. */
  readonly openBreakers: readonly string[]
  /** Number of all destinations whose circuit breaker is not closed. */
  readonly openBreakerCount: number
  /** The processes that run, in the order of their names. */
  readonly services: readonly ShownProcess[]
}

export interface ShownRates {
  /** Admitted deliveries of new events per second. Retries do not count. */
  readonly admittedPerSecond: number
  readonly deliveredPerSecond: number
  /** Failed attempts per second. */
  readonly failedPerSecond: number
}

export interface ShownProcess {
  /** Unique name of the process; a restart changes it. */
  readonly instance: string
  readonly services: readonly string[]
  readonly version: string
  /** When the process started; ISO 8601, UTC, like `seenAt`. */
  readonly startedAt: string
  /** When Kafka received the last status record of the process. */
  readonly seenAt: string
  /** Number of partitions of the events topic that the process owns. */
  readonly partitions: number
}

export interface ObjectProblems {
  readonly kind: ObjectKind
  readonly id: string
  readonly conflict: boolean
  readonly problems: readonly ShownProblem[]
}

/** The deliveries of one destination that wait in the retry topic of one tier. */
export interface DestinationWaiting extends Waiting {
  /** When the oldest of these deliveries was written to the retry topic; ISO 8601, UTC. */
  readonly oldestAt: string
}

/** One request of a failed attempt, or a failed attempt that sent no request. */
export interface FailedAttempt extends TimelineAttempt {
  readonly messageId: string
  readonly sourceId: string
  readonly type: string
}

export interface DestinationStatus {
  readonly kind: 'status'
  readonly id: string
  readonly state: DestinationState
  readonly version: number
  readonly problems: readonly ShownProblem[]
  /** Present when Hookline has disabled the destination. */
  readonly disabledAutomatically?: DisablingView | undefined
  /**
   * Present when only a part of the topics was read. More deliveries may then wait, and more
   * attempts may have failed.
   */
  readonly partial?: true | undefined
  /**
   * The deliveries that wait, by retry tier, shortest tier first. Tiers in which nothing waits are
   * absent.
   */
  readonly waiting: readonly DestinationWaiting[]
  /**
   * The last failed attempts, newest first, at most 50. Absent when Hookline does not record
   * attempts. Also absent when it could not read the attempts topic; `partial` is then present.
   */
  readonly lastFailures?: readonly FailedAttempt[] | undefined
  readonly circuitBreaker: {
    readonly state: BreakerState
    /**
     * When the next attempt may probe the destination; ISO 8601, UTC. Present only while the
     * circuit breaker is not closed.
     */
    readonly nextProbeAt?: string | undefined
  }
  readonly requestsInProgress: number
  /** Deliveries that wait in the memory of the dispatchers for an attempt. */
  readonly inMemory: number
  /** Maximum number of attempts per second after a 429; absent without a limit. */
  readonly pace?: number | undefined
  /**
   * The time until which at least one process starts no attempt, because a response had
   * Retry-After; ISO 8601, UTC. Absent without a pause.
   */
  readonly pausedUntil?: string | undefined
  readonly results: { readonly lastHour: ShownResults; readonly lastDay: ShownResults }
}

export interface ShownResults extends Readonly<Counts> {
  /**
   * The time from which the results are counted, in ISO 8601, UTC. It is up to 15 minutes earlier
   * than one hour or one day ago.
   */
  readonly since: string
}
