import type { Clock, LogConsumerHandlers, Logger, TopicPartition } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/units.ts'
import { KafkaError, rejoinNeeded } from '../kafkajs/errors.ts'
import { assignmentFrom, fetchUnhooked, type GroupHooks } from '../kafkajs/patches/consumer-group.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { offsetOf } from '../log/fetch.ts'
import { excessPartitionsIn, type MemberState, type SubscriptionUserData } from './assignor.ts'
import {
  byTopic,
  type OwnedPartition,
  type OwnedPartitions,
  partitionOf,
  positionOf,
  seekAndPause,
} from './owned-partitions.ts'
import {
  type AssignmentChange,
  isContinuous,
  type LostPosition,
  type MemberGeneration,
  memberGenerationOf,
  nearest,
  RebalanceFetcher,
  retriedAssignmentChange,
} from './rebalance.ts'
import { IncrementalRevocation } from './revocation.ts'
import { BrokerFailover, SessionLease } from './session.ts'

/*
 * The membership of one consumer in its group is a state machine. kafkajs sends JoinGroup and
 * SyncGroup and runs the fetch loop; its hooks (`patches/consumer-group.ts`) call this class.
 *
 *             join()               assignment applied, no excess
 *   OUTSIDE ──────────▶ JOINING ─────────────────────────────────▶ SETTLED
 *      ▲                 │ ▲ │ ▲                                       │
 *      │  forget()       │ │ │ └────────── the group rebalances ───────┘
 *      └─────────────────┘ │ │     assignment applied, with excess
 *                          │ └────────────────────────────────────▶ REVOKING
 *                          └── revoked, or the group rebalances ───────┘
 *
 *   end() moves every state to ENDED, in which each join throws.
 *
 * OUTSIDE   This member owns nothing; other members may own what it had.
 *           In progress: nothing. No fetch, no commit, no heartbeat.
 *           Left for JOINING when kafkajs joins.
 *
 * JOINING   A join runs (`#joining` is set); concurrent callers share it. Its steps are: the last
 *           commit of the old generation (up to 2 s), JoinGroup, SyncGroup, and the fetch of the
 *           committed offsets of gained partitions. The member keeps its owned partitions, unless
 *           another member may have owned them since the last join (`isContinuous`).
 *           Activity: after 100 ms `RebalanceFetcher` fetches and delivers the owned partitions and
 *           sends heartbeats. Commits continue until the response to JoinGroup (`committable`).
 *           Next: SETTLED or REVOKING, when the assignment is applied. JOINING again, when the
 *           coordinator or the offsets cannot be read. OUTSIDE, when the consumer crashes, the
 *           group no longer knows the member id, or the member has missed a generation.
 *
 * SETTLED   The assignment is applied and no join has begun (`settled` is set).
 *           In progress: a fetch from each leader, a heartbeat every 500 ms and a commit every
 *           250 ms, one at a time each.
 *           Left for JOINING when the answer to a heartbeat or fetch says that the group rebalances.
 *
 * REVOKING  SETTLED with excess partitions, which `IncrementalRevocation` pauses, drains (8 s at
 *           most), commits and drops. All other partitions continue as in SETTLED.
 *           Left for JOINING when they are dropped (the next heartbeat throws), or when any other
 *           join begins, which cancels the revocation.
 *
 * Two conditions are independent of the state:
 * - The session lease (`SessionLease`): while it is not held, the services start nothing.
 * - Broker failover (`BrokerFailover`): while brokers are out of reach, the state stays as it is for
 *   up to 30 s, without a rejoin, and heartbeats wait for the new coordinator.
 */

export interface GroupMembershipDeps {
  readonly owned: OwnedPartitions
  readonly handlers: LogConsumerHandlers
  /** Commits everything that is done; the last commit of the old generation before a rejoin. */
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  /** Delivers a fetched batch to the handlers. */
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  readonly onJoined: () => void
  readonly maxWait: DurationMs
  readonly maxWaitWhilePaused?: DurationMs | undefined
  readonly onPositionLost: (loss: LostPosition) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Below the session timeout: no heartbeat is sent during the last commit. */
const lastCommitLimit = durationMs(2_000)

export class GroupMembership implements GroupHooks, MemberState {
  readonly #deps: GroupMembershipDeps
  readonly #lease: SessionLease
  readonly #failover: BrokerFailover
  readonly #revocation: IncrementalRevocation
  readonly #rebalanceFetcher: RebalanceFetcher
  /** Set when the last join began. */
  #group: ConsumerGroup | undefined
  #settled: ConsumerGroup | undefined
  #joining: Promise<void> | undefined
  #joins = 0
  #last: MemberGeneration | undefined
  /** The generation in which the owned partitions were assigned. */
  #assignedIn: MemberGeneration | undefined
  #isEnded = false
  #waiting: (() => void)[] = []

  constructor(deps: GroupMembershipDeps) {
    const { clock, logger, owned, handlers, flush, deliver } = deps
    this.#deps = deps
    this.#lease = new SessionLease(clock, () => handlers.onConfirmed())
    this.#failover = new BrokerFailover({ clock, logger, lease: this.#lease })
    this.#revocation = new IncrementalRevocation({ owned, handlers, flush, clock })
    const heartbeat = (group: ConsumerGroup): Promise<void> => this.#lease.heartbeat(group)
    this.#rebalanceFetcher = new RebalanceFetcher({ clock, owned, deliver, fetch: fetchUnhooked, heartbeat })
  }

  /** Whether the session lease is held, so that no other member can own our partitions. */
  get holdsLease(): boolean {
    return this.#lease.isHeld
  }

  /**
   * The group in the states SETTLED and REVOKING: only then may anything be fetched or committed.
   */
  get settled(): ConsumerGroup | undefined {
    return this.#settled
  }

  /**
   * The group while it may commit: in SETTLED and REVOKING, and in JOINING until the response to
   * JoinGroup. That response can take the session timeout, when a member has died. Without commits,
   * a kill at its end would repeat all of that time. After the response a commit would carry the new
   * generation, and the coordinator would accept it even for a partition that another member owns.
   */
  get committable(): ConsumerGroup | undefined {
    const group = this.#group
    if (this.#settled !== undefined || group === undefined) return this.#settled
    const { memberId, generation } = memberGenerationOf(group)
    const isAssigned = this.#assignedIn?.generation === generation && this.#assignedIn.memberId === memberId
    return isAssigned ? group : undefined
  }

  /** Resolves when the group is settled, or with `undefined` after `limit`. */
  async untilSettled(limit: DurationMs): Promise<ConsumerGroup | undefined> {
    if (this.#settled === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      const cancel = this.#deps.clock.after(limit, resolve)
      await promise
      cancel()
    }
    return this.#settled
  }

  /** Moves to OUTSIDE: other members may own all partitions that were ours. */
  forget(): void {
    const { owned, handlers } = this.#deps
    const lost = owned.all()
    this.#settled = undefined
    this.#last = undefined
    this.#assignedIn = undefined
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(partitionOf))
  }

  /** Moves to ENDED. */
  end(): void {
    this.#isEnded = true
    this.#revocation.cancel()
  }

  /** Fetches of several brokers may each find that a join is needed: they share one. */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    this.#joining ??= this.#rejoin(group, join).finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  /**
   * The owned partitions, which the assignor leaves with this member. When another member may have
   * owned them since the last join, they are revoked here, before JoinGroup is sent.
   */
  subscriptionUserData(): SubscriptionUserData {
    const now = this.#group === undefined ? undefined : memberGenerationOf(this.#group)
    if (now === undefined || !isContinuous(this.#last, now)) {
      this.forget()
      return { generation: -1, owned: [] }
    }
    // JoinGroup succeeded and SyncGroup did not: the leader of that generation knew what we own.
    this.#last = now
    return { generation: now.generation, owned: this.#deps.owned.all() }
  }

  generation(): number {
    return this.#group?.generationId ?? -1
  }

  async heartbeat(group: ConsumerGroup): Promise<void> {
    if (this.#joining !== undefined) return
    if (this.#revocation.needsRejoin) throw rejoinNeeded()
    await this.#failover.heartbeat(group)
  }

  maxWait(): DurationMs {
    const { owned, maxWait, maxWaitWhilePaused = maxWait } = this.#deps
    return this.#settled !== undefined && owned.areAllFetched ? maxWait : maxWaitWhilePaused
  }

  async fetch(fetch: () => Promise<readonly FetchedBatch[]>): Promise<readonly FetchedBatch[]> {
    await this.#joining?.catch(() => undefined)
    const group = this.#settled
    if (group === undefined) throw rejoinNeeded()
    const joins = this.#joins
    try {
      return await fetch()
    } catch (error) {
      // A fetch from another broker has caused a rejoin: this error belongs to the time before it.
      if (this.#joins === joins) await this.#failover.afterFetch(group, error)
      return []
    }
  }

  async outOfRange(group: ConsumerGroup, { topic, partition }: TopicPartition): Promise<void> {
    const { owned, handlers, onPositionLost } = this.#deps
    const at = owned.get({ topic, partition })
    if (at === undefined) return
    const from = at.next
    const { cluster } = group
    const [beginning, end] = await Promise.all([offsetOf(cluster, at, 'beginning'), offsetOf(cluster, at, 'end')])
    const to = nearest(from, beginning, end)
    if (owned.get(at) !== at || at.next !== from || to === from) return
    at.next = to
    group.seek({ topic, partition, offset: String(to) })
    onPositionLost({ topic, partition, from, to })
    if (to > from) handlers.onRecords({ topic, partition, records: [], nextOffset: to, highWatermark: end })
    else this.#reassign(group, { topic, partition, next: to, paused: false, isRevoking: false, committed: undefined })
  }

  /**
   * The log was truncated below our position: offsets are reused, so tracked ones mean nothing now.
   */
  #reassign(group: ConsumerGroup, partition: OwnedPartition): void {
    const { owned, handlers } = this.#deps
    owned.add(partition)
    group.resume([{ topic: partition.topic, partitions: [partition.partition] }])
    handlers.onRevoked([partitionOf(partition)])
    handlers.onAssigned([positionOf(partition)])
  }

  async #rejoin(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    if (this.#isEnded) throw ended(group)
    this.#group = group
    this.#revocation.cancel()
    if (group.memberId === null) this.forget()
    if (this.#settled === group) await this.#deps.flush(group, lastCommitLimit)
    this.#settled = undefined
    this.#rebalanceFetcher.start(group)
    await joinOrRetry(join).finally(() => this.#rebalanceFetcher.stop())
    const { owned, clock, logger } = this.#deps
    const isEnded = (): boolean => this.#isEnded
    const change = await retriedAssignmentChange(group, owned, this.#last, { clock, logger, isEnded })
    if (this.#isEnded) {
      await group.leave()
      throw ended(group)
    }
    this.#apply(group, change)
    this.#last = this.#assignedIn = memberGenerationOf(group)
    this.#joins++
    this.#settled = group
    void this.#lease.renew(group).catch(() => undefined)
    void this.#revocation.start(group, excessPartitionsIn(assignmentFrom(group.coordinator)))
    this.#deps.onJoined()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Synchronous, so that no caller sees half an assignment. */
  #apply(group: ConsumerGroup, { lost, gained }: AssignmentChange): void {
    const { owned, handlers } = this.#deps
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(partitionOf))
    for (const partition of gained) owned.add(partition)
    for (const partition of owned.all()) partition.isRevoking = false
    group.resume(byTopic(lost, ({ partition }) => partition))
    if (gained.length > 0) handlers.onAssigned(gained.map(positionOf))
    // All of them: kafkajs does not know what was resumed during the join.
    seekAndPause(group, owned.all())
  }
}

/** While brokers restart kafkajs may find no coordinator and stop: join again instead. */
async function joinOrRetry(join: () => Promise<void>): Promise<void> {
  try {
    await join()
  } catch (error) {
    throw (error as Error).name === 'KafkaJSGroupCoordinatorNotFound' ? rejoinNeeded() : error
  }
}

function ended({ groupId }: ConsumerGroup): KafkaError {
  return new KafkaError(`consumer of ${groupId} is stopped`, { code: 'CLOSED', retriable: false })
}
