import type { ObjectKind } from '../config-objects/config-objects.ts'
import type { ShownProblem } from './object-refusal.ts'
import type { DestinationState } from './object-view.ts'

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
  /** Present when Kafka did not report all offsets: then `groups` and `waiting` are incomplete. */
  readonly partial?: true | undefined
  readonly groups: readonly GroupLag[]
  readonly waiting: readonly Waiting[]
  readonly destinations: Readonly<Record<DestinationState, number>>
  readonly sources: { readonly enabled: number; readonly excluded: number }
  /** The first 100 objects that are excluded, or hidden by the configuration file. */
  readonly problems: readonly ObjectProblems[]
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

export interface DestinationStatus {
  readonly kind: 'status'
  readonly id: string
  readonly state: DestinationState
  readonly version: number
  readonly problems: readonly ShownProblem[]
  /** Present when only a part of the retry topics was read: then more deliveries may wait. */
  readonly partial?: true | undefined
  /** Shortest tier first, without tiers in which nothing waits. */
  readonly waiting: readonly DestinationWaiting[]
}
