import type { Clock, LogConsumerHandlers, Logger, Position, TopicPartition } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/time.ts'
import { consumerStopped, rejoinError } from '../kafkajs/errors.ts'
import { fetchWithoutHooks, type GroupHooks, lastAssignmentFrom } from '../kafkajs/patch-consumer-group.ts'
import type { UnreadablePartition } from '../kafkajs/patch-fetch-errors.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { fetchOffset } from '../log/partition-offsets.ts'
import {
  type AssignmentChange,
  assignmentChangeWithRetries,
  isContinuous,
  type MemberGeneration,
  memberGenerationOf,
} from './assignment-change.ts'
import { excessPartitionsIn, type MemberState, type SubscriptionUserData } from './assignor.ts'
import { RebalanceFetcher } from './fetch-during-rebalance.ts'
import { BrokerFailover } from './keep-membership-during-failover.ts'
import { type LostPosition, positionAfterTruncation } from './lost-position.ts'
import {
  groupByTopic,
  isBeforeBeginning,
  markPositionsKnown,
  type OwnedPartition,
  type OwnedPartitions,
  seekAndPause,
  toPosition,
  toTopicPartition,
} from './owned-partitions.ts'
import { pauseUnreadable } from './pause-unreadable-partitions.ts'
import { IncrementalRevocation } from './revocation.ts'
import { OverdueHeartbeats } from './send-overdue-heartbeats.ts'
import { SessionLease } from './session-lease.ts'

/*
 * The membership of one consumer in its group is a state machine. kafkajs calls this class (see
 * `patch-consumer-group.ts`). "Excess partitions" are the assigned ones that this member must
 * revoke.
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
 * OUTSIDE   The member owns no partitions: no fetches, commits or heartbeats.
 *
 * JOINING   Steps: the last commit of the old generation (up to 2 s), JoinGroup, SyncGroup, and the
 *           fetch of the committed offsets of gained partitions. The member keeps its owned
 *           partitions, unless another member may have owned them (`isContinuous`).
 *           Activity: after 100 ms, `RebalanceFetcher` fetches the owned partitions and sends
 *           heartbeats. Commits continue until the response to JoinGroup (`committable`).
 *           Next: JOINING again, when no coordinator is found, or the committed offsets cannot be
 *           read. OUTSIDE, when the consumer crashes, the group no longer knows the member id, or
 *           the member has missed a generation. Otherwise SETTLED or REVOKING.
 *
 * SETTLED   Activity: fetches, a heartbeat every 500 ms and a commit every 250 ms.
 *           Next: JOINING, when the response to a heartbeat reports a rebalance, or a fetch shows
 *           that the metadata is out of date.
 *
 * REVOKING  `IncrementalRevocation` revokes the excess partitions.
 *           Activity: as in SETTLED, with the other partitions.
 *           Next: JOINING, when the excess partitions are released. Another join cancels the
 *           revocation.
 *
 * Three conditions are independent of the state:
 * - Session lease (`SessionLease`): while the member does not hold it, the services start no work.
 * - Overdue heartbeats (`OverdueHeartbeats`): heartbeats continue for up to 30 s while all fetches
 *   wait.
 * - Broker failover (`BrokerFailover`): while brokers are unreachable, the member keeps its state
 *   for up to 30 s without a rejoin.
 */

export interface GroupMembershipDeps {
  readonly owned: OwnedPartitions
  readonly handlers: LogConsumerHandlers
  /** Commits the changed offsets, at the end of a generation and in a revocation. */
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  readonly onJoined: () => void
  readonly maxWait: DurationMs
  readonly maxWaitWhilePaused?: DurationMs | undefined
  readonly onPositionLost: (loss: LostPosition) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Time limit of the last commit of a generation. No heartbeat is sent during this commit, so the
 * limit is below the session timeout of 6 s.
 */
const lastCommitLimit = durationMs(2_000)

export class GroupMembership implements GroupHooks, MemberState {
  readonly #deps: GroupMembershipDeps
  readonly #lease: SessionLease
  readonly #failover: BrokerFailover
  readonly #revocation: IncrementalRevocation
  readonly #rebalanceFetcher: RebalanceFetcher
  readonly #overdueHeartbeats: OverdueHeartbeats
  /** The group that this member is joining, or has joined last. */
  #group: ConsumerGroup | undefined
  #settled: ConsumerGroup | undefined
  #joining: Promise<void> | undefined
  #joins = 0
  #lastJoin: MemberGeneration | undefined
  /** The generation in which the owned partitions were assigned. */
  #assignedIn: MemberGeneration | undefined
  #isEnded = false
  #waiting: (() => void)[] = []

  constructor(deps: GroupMembershipDeps) {
    const { clock, logger, owned, handlers, flush, deliver } = deps
    this.#deps = deps
    this.#lease = new SessionLease(clock, () => handlers.onLeaseAcquired())
    this.#failover = new BrokerFailover({ clock, logger, lease: this.#lease })
    this.#revocation = new IncrementalRevocation({ owned, handlers, flush, clock })
    const groupIfOwning = (): ConsumerGroup | undefined => (owned.all().length > 0 ? this.#group : undefined)
    this.#overdueHeartbeats = new OverdueHeartbeats({ clock, lease: this.#lease, group: groupIfOwning })
    // This function also notes a fetch, because `RebalanceFetcher` calls it only after a fetch.
    const heartbeat = (group: ConsumerGroup): Promise<void> => {
      this.#overdueHeartbeats.noteFetch()
      return this.#lease.heartbeat(group)
    }
    this.#rebalanceFetcher = new RebalanceFetcher({ clock, owned, deliver, fetch: fetchWithoutHooks, heartbeat })
  }

  /** Whether it is certain that this member still owns its partitions. */
  get holdsLease(): boolean {
    return this.#lease.isHeld
  }

  /** The group in the states SETTLED and REVOKING; `undefined` in other states. */
  get settled(): ConsumerGroup | undefined {
    return this.#settled
  }

  /**
   * The group while this member may commit. `undefined` from the response to JoinGroup until the
   * assignment is applied: the coordinator would accept commits of this member even for partitions
   * that another member now owns.
   */
  get committable(): ConsumerGroup | undefined {
    const group = this.#group
    if (this.#settled !== undefined || group === undefined) return this.#settled
    const { memberId, generation } = memberGenerationOf(group)
    const isAssigned = this.#assignedIn?.generation === generation && this.#assignedIn.memberId === memberId
    return isAssigned ? group : undefined
  }

  /** Resolves with the group when a join is complete; with `undefined` after `limit`. */
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

  /** Moves to the state OUTSIDE and releases all partitions. */
  forget(): void {
    const { owned, handlers } = this.#deps
    const lost = owned.all()
    this.#settled = undefined
    this.#lastJoin = undefined
    this.#assignedIn = undefined
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(toTopicPartition))
  }

  /**
   * Releases all partitions when kafkajs leaves the group after a crash of the consumer, because
   * other members may get these partitions before kafkajs reports the crash.
   */
  beforeLeave(): void {
    if (!this.#isEnded) this.forget()
  }

  /** Moves to the state ENDED. */
  end(): void {
    this.#isEnded = true
    this.#revocation.cancel()
    this.#overdueHeartbeats.stop()
  }

  /** Joins the group. Concurrent calls share one join. */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    this.#joining ??= this.#rejoin(group, join).finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  /**
   * Returns the owned partitions, for the assignor. If another member may have owned them since the
   * last join, this method first releases them and returns none.
   */
  subscriptionUserData(): SubscriptionUserData {
    const now = this.#group === undefined ? undefined : memberGenerationOf(this.#group)
    if (now === undefined || !isContinuous(this.#lastJoin, now)) {
      this.forget()
      return { generation: -1, owned: [] }
    }
    // `now` counts as the last join even if its SyncGroup fails: the group leader knows the
    // partitions of this member, and assigns them to no other member.
    this.#lastJoin = now
    return { generation: now.generation, owned: this.#deps.owned.all() }
  }

  generation(): number {
    return this.#group?.generationId ?? -1
  }

  async heartbeat(group: ConsumerGroup): Promise<void> {
    // Each call notes a fetch, because kafkajs calls this method only after a fetch or a batch.
    this.#overdueHeartbeats.noteFetch()
    if (this.#joining !== undefined) return
    if (this.#revocation.needsRejoin) throw rejoinError()
    await this.#failover.heartbeat(group)
  }

  maxWait(): DurationMs {
    const { owned, maxWait, maxWaitWhilePaused = maxWait } = this.#deps
    return this.#settled !== undefined && owned.areAllFetched ? maxWait : maxWaitWhilePaused
  }

  async fetch(fetch: () => Promise<readonly FetchedBatch[]>): Promise<readonly FetchedBatch[]> {
    await this.#joining?.catch(() => undefined)
    const group = this.#settled
    if (group === undefined) throw rejoinError()
    const joins = this.#joins
    try {
      return await fetch()
    } catch (error) {
      // If the member has rejoined during the fetch, the error concerns the old generation and is
      // ignored.
      if (this.#joins === joins) await this.#failover.afterFetch(group, error)
      return []
    }
  }

  /**
   * Moves the position of a partition after OFFSET_OUT_OF_RANGE. Does nothing while the partition
   * is being revoked, because a reassignment (`#reassign`) would let the service start new work.
   */
  async outOfRange(group: ConsumerGroup, { topic, partition }: TopicPartition): Promise<void> {
    const { owned, handlers, onPositionLost } = this.#deps
    const at = owned.get({ topic, partition })
    if (at === undefined) return
    const from = at.next
    const { cluster } = group
    const [beginning, end] = await Promise.all([fetchOffset(cluster, at, 'beginning'), fetchOffset(cluster, at, 'end')])
    // If `from` is not below the beginning, the log was truncated. Kafka reuses truncated offsets,
    // so the record at `from` may now be another one.
    const to = from < beginning ? beginning : await positionAfterTruncation(cluster, at, { beginning, end })
    if (owned.get(at) !== at || at.isRevoking || at.next !== from || to === from) return
    at.next = to
    group.seek({ topic, partition, offset: String(to) })
    const { lastTimestamp } = at
    const again = { topic, partition, next: to, lastTimestamp, paused: false, isRevoking: false, committed: undefined }
    if (isBeforeBeginning(at, from)) return this.#reassign(group, again, {})
    onPositionLost({ topic, partition, from, to })
    if (to < from) return this.#reassign(group, again, { isTruncated: true, isUncommitted: false })
    handlers.onRecords({ topic, partition, records: [], nextOffset: to, highWatermark: end, isAfterLoss: true })
  }

  unreadable(group: ConsumerGroup, partitions: readonly UnreadablePartition[]): void {
    void pauseUnreadable(this.#deps, group, partitions)
  }

  /**
   * Revokes and reassigns a partition, so that the service forgets its state. After a truncation,
   * the offsets in this state belong to other records. If the beginning of the log was unknown at
   * the assignment, this state wrongly begins at offset 0.
   */
  #reassign(group: ConsumerGroup, partition: OwnedPartition, more: Partial<Position>): void {
    const { owned, handlers } = this.#deps
    owned.add(partition)
    group.resume([{ topic: partition.topic, partitions: [partition.partition] }])
    handlers.onRevoked([toTopicPartition(partition)])
    handlers.onAssigned([{ ...toPosition(partition), ...more }])
  }

  async #rejoin(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    if (this.#isEnded) throw consumerStopped(group.groupId)
    this.#group = group
    this.#revocation.cancel()
    if (group.memberId === null) this.forget()
    if (this.#settled === group) await this.#deps.flush(group, lastCommitLimit)
    this.#settled = undefined
    this.#rebalanceFetcher.start(group)
    await joinOrRetry(join).finally(() => this.#rebalanceFetcher.stop())
    const { owned, clock, logger } = this.#deps
    const isEnded = (): boolean => this.#isEnded
    const change = await assignmentChangeWithRetries(group, owned, this.#lastJoin, { clock, logger, isEnded })
    if (this.#isEnded) {
      await group.leave()
      throw consumerStopped(group.groupId)
    }
    this.#apply(group, change)
    this.#lastJoin = this.#assignedIn = memberGenerationOf(group)
    this.#joins++
    this.#settled = group
    void this.#lease.renew(group).catch(() => undefined)
    void this.#revocation.start(group, excessPartitionsIn(lastAssignmentFrom(group.coordinator)))
    this.#deps.onJoined()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /**
   * Applies an assignment. The method is synchronous, so no caller sees a partly applied
   * assignment.
   */
  #apply(group: ConsumerGroup, { lost, gained }: AssignmentChange): void {
    const { owned, handlers } = this.#deps
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(toTopicPartition))
    for (const partition of gained) owned.add(partition)
    for (const partition of owned.all()) partition.isRevoking = false
    group.resume(groupByTopic(lost, ({ partition }) => partition))
    if (gained.length > 0) handlers.onAssigned(gained.map(toPosition))
    // kafkajs did not get the pauses and resumes during the join, so these functions pass all owned
    // partitions to kafkajs.
    seekAndPause(group, owned.all())
    markPositionsKnown(group, owned.all())
  }
}

/**
 * Calls `join`. If the group has no coordinator, throws an error after which kafkajs joins again.
 * After the original error, kafkajs would stop the consumer.
 */
async function joinOrRetry(join: () => Promise<void>): Promise<void> {
  try {
    await join()
  } catch (error) {
    throw (error as Error).name === 'KafkaJSGroupCoordinatorNotFound' ? rejoinError() : error
  }
}
