import type { ObjectKind } from '../config-objects/config-objects.ts'
import type { Counts } from '../live-status/result-counts.ts'
import type { BreakerState } from '../live-status/status-record.ts'
import type { TimelineAttempt } from './destination-timeline.ts'
import type { ShownProblem } from './object-refusal.ts'
import type { DestinationState, DisablingView } from './object-view.ts'

/** How far a consumer group is behind the end of the topics that it reads. */
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
  /** ISO 8601, UTC. */
  readonly at: string
  /** The version of the process that answers. */
  readonly version: string
  /**
   * Present when Kafka did not report all offsets or records: then `groups` and `waiting`, or
   * `rates`, `openBreakers` and `services` are incomplete.
   */
  readonly partial?: true | undefined
  readonly groups: readonly GroupLag[]
  readonly waiting: readonly Waiting[]
  readonly destinations: Readonly<Record<DestinationState, number>>
  readonly sources: { readonly enabled: number; readonly excluded: number }
  /** The first 100 objects that are excluded, or hidden by the configuration file. */
  readonly problems: readonly ObjectProblems[]
  /** The sum over all processes, over the last seconds. */
  readonly rates: ShownRates
  /** The first 100 destinations whose circuit breaker is not closed. */
  readonly openBreakers: readonly string[]
  /** The processes that run, in the order of their names. */
  readonly services: readonly ShownProcess[]
}

export interface ShownRates {
  /** Deliveries of new events, without retries. */
  readonly admittedPerSecond: number
  readonly deliveredPerSecond: number
  /** Failed attempts. */
  readonly failedPerSecond: number
}

export interface ShownProcess {
  /** Unique name of the process; a restart changes it. */
  readonly instance: string
  readonly services: readonly string[]
  readonly version: string
  /** ISO 8601, UTC, like `seenAt`. */
  readonly startedAt: string
  /** When Kafka got its last record. */
  readonly seenAt: string
  /** Number of partitions of the events topic that it owns. */
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
  /** When the oldest of them was written to the topic; ISO 8601, UTC. */
  readonly oldestAt: string
}

/** One request of a failed attempt, or a failed attempt that sent none. */
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
  /** Present when only a part of the topics was read: then there may be more. */
  readonly partial?: true | undefined
  /** Shortest tier first, without tiers in which nothing waits. */
  readonly waiting: readonly DestinationWaiting[]
  /** Newest first, at most 50; absent when the attempts topic could not be read. */
  readonly lastFailures?: readonly FailedAttempt[] | undefined
  readonly circuitBreaker: {
    readonly state: BreakerState
    /** ISO 8601, UTC; only while the circuit breaker is not closed. */
    readonly nextProbeAt?: string | undefined
  }
  readonly requestsInProgress: number
  /** Deliveries that wait in the memory of a dispatcher. */
  readonly inMemory: number
  /** Attempts per second after a 429; absent without a limit. */
  readonly pace?: number | undefined
  readonly results: { readonly lastHour: ShownResults; readonly lastDay: ShownResults }
}

export interface ShownResults extends Readonly<Counts> {
  /** ISO 8601, UTC: up to 15 minutes before the hour or the day. */
  readonly since: string
}
