import type { ObjectKind } from '../config-objects/config-objects.ts'
import type { Counts } from '../live-status/result-counts-of-this-process.ts'
import type { BreakerState } from '../live-status/status-record.ts'
import type { TimelineAttempt } from './destination-timeline.ts'
import type { ShownProblem } from './object-refusal.ts'
import type { DestinationState, DisablingView } from './object-view.ts'

/** `lag`: the number of records that the consumer group has not yet processed. */
export interface GroupLag {
  readonly group: string
  readonly topics: readonly { readonly topic: string; readonly lag: number }[]
}

/** Records that wait in the retry topic of one tier, for example `30s`. */
export interface Waiting {
  readonly tier: string
  readonly records: number
}

/** The state of the installation, as one process knows it. */
export interface InstallationStatus {
  /** When the status was read; ISO 8601, UTC. */
  readonly at: string
  /** The version of the process that answers the request. */
  readonly version: string
  /**
   * Present when the status is incomplete: offsets are missing, or the status topic is not yet read
   * to its end.
   */
  readonly partial?: true | undefined
  readonly groups: readonly GroupLag[]
  readonly waiting: readonly Waiting[]
  readonly destinations: Readonly<Record<DestinationState, number>>
  readonly sources: { readonly enabled: number; readonly excluded: number }
  /** The first 100 objects that have problems, or whose id is also in the configuration file. */
  readonly problems: readonly ObjectProblems[]
  /** Number of all objects that have problems or whose id is also in the configuration file. */
  readonly problemCount: number
  /**
   * The sums of the last reported rates of all processes. Each process reports its rates about
   * every 5 s.
   */
  readonly rates: ShownRates
  /** The first 100 destinations whose circuit breaker is not closed. */
  readonly openBreakers: readonly string[]
  readonly openBreakerCount: number
  /** The running processes, sorted by name. */
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
  /** Partitions of the events topic that the process owns. */
  readonly partitions: number
}

export interface ObjectProblems {
  readonly kind: ObjectKind
  readonly id: string
  readonly conflict: boolean
  readonly problems: readonly ShownProblem[]
}

export interface DestinationWaiting extends Waiting {
  /** When the oldest delivery was written to the retry topic; ISO 8601, UTC. */
  readonly oldestAt: string
}

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
  /** Present when only a part of the topics was read. */
  readonly partial?: true | undefined
  /** The deliveries in retry topics, by tier, shortest wait first. Empty tiers are absent. */
  readonly waiting: readonly DestinationWaiting[]
  /**
   * The last failed attempts, at most 50, newest first. Absent when Hookline does not record
   * attempts, or could not read them (see `partial`).
   */
  readonly lastFailures?: readonly FailedAttempt[] | undefined
  readonly circuitBreaker: {
    readonly state: BreakerState
    /**
     * When an attempt may next probe the destination; ISO 8601, UTC. Absent while the circuit
     * breaker is closed.
     */
    readonly nextProbeAt?: string | undefined
  }
  readonly requestsInProgress: number
  /** Deliveries that wait in memory for an attempt. */
  readonly inMemory: number
  /** Maximum number of attempts per second after a 429; absent without a limit. */
  readonly pace?: number | undefined
  /** The time until which at least one process pauses because of Retry-After; ISO 8601, UTC. */
  readonly pausedUntil?: string | undefined
  readonly results: { readonly lastHour: ShownResults; readonly lastDay: ShownResults }
}

export interface ShownResults extends Readonly<Counts> {
  /**
   * The time from which the results count (ISO 8601, UTC). It can be up to 15 minutes before the
   * last hour or day, because Hookline counts results in periods of 15 minutes.
   */
  readonly since: string
}
