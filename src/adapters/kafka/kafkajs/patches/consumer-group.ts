import type { TopicPartition } from '../../../../core/ports.ts'
import type { DurationMs } from '../../../../core/units.ts'
import { type Broker, type Cluster, type ConsumerGroup, type FetchedBatch, internal } from '../private-api.ts'

/** What a Hookline consumer does around the steps of its group. Other consumers run unchanged. */
export interface GroupHooks {
  /** Around every join, whatever starts it. The caller fetches nothing before this resolves. */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void>
  /**
   * Replaces kafkajs's heartbeat, after every fetch and batch. To throw REBALANCE_IN_PROGRESS makes
   * kafkajs join again.
   */
  heartbeat(group: ConsumerGroup): Promise<void>
  /** How long a broker may hold a fetch that has nothing to return; asked before each fetch. */
  maxWait(): DurationMs
  /** Around every fetch from one broker. */
  fetch(fetch: () => Promise<readonly FetchedBatch[]>): Promise<readonly FetchedBatch[]>
  /**
   * Replaces kafkajs's reaction to OFFSET_OUT_OF_RANGE, which commits -2 or -1 and continues at
   * that end of the log (consumer/consumerGroup.js:597).
   */
  outOfRange(group: ConsumerGroup, partition: TopicPartition): Promise<void>
}

/** By cluster: each consumer has its own, which exists before its group. */
const hooksOf = new WeakMap<Cluster, GroupHooks>()

export function setGroupHooks(cluster: Cluster, hooks: GroupHooks): void {
  hooksOf.set(cluster, hooks)
}

/** Applies the patches of kafkajs's consumer groups. */
export function patchConsumerGroup(): void {
  patchGroupHooks()
  patchSyncGroup()
  patchStoppedFetch()
  patchLateBatch()
}

/**
 * Defect: kafkajs has no hook that is awaited before partitions are revoked, and none before the
 * new ones are fetched (consumer/consumerGroup.js:331, 442, 446, 597).
 * Patch: the group calls `GroupHooks`.
 * Remove when: kafkajs supports cooperative rebalancing with awaited callbacks.
 */
function patchGroupHooks(): void {
  const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const { joinAndSync, fetch, heartbeat, recoverFromOffsetOutOfRange } = prototype
  originalFetch = fetch

  prototype.joinAndSync = function (this: ConsumerGroup) {
    const join = (): Promise<void> => joinAndSync.call(this)
    return hooksOf.get(this.cluster)?.join(this, join) ?? join()
  }
  prototype.heartbeat = function (this: ConsumerGroup, options) {
    return hooksOf.get(this.cluster)?.heartbeat(this) ?? heartbeat.call(this, options)
  }
  prototype.fetch = async function (this: ConsumerGroup, nodeId) {
    const hooks = hooksOf.get(this.cluster)
    if (hooks === undefined) return fetch.call(this, nodeId)
    return hooks.fetch(() => fetchUnhooked(this, nodeId))
  }
  prototype.recoverFromOffsetOutOfRange = function (this: ConsumerGroup, error) {
    return hooksOf.get(this.cluster)?.outOfRange(this, error) ?? recoverFromOffsetOutOfRange.call(this, error)
  }
}

let originalFetch: ConsumerGroup['fetch'] | undefined

/** Fetches once from one broker without a hook, for fetches during a rebalance. */
export async function fetchUnhooked(group: ConsumerGroup, nodeId: string): Promise<readonly FetchedBatch[]> {
  const hooks = hooksOf.get(group.cluster)
  if (hooks !== undefined) group.maxWaitTime = hooks.maxWait()
  const batches = (await originalFetch?.call(group, nodeId)) ?? []
  return batches.filter(hasRecords).map(neverEmpty)
}

/**
 * A fetch answers for every partition, and most have nothing when events arrive one by one. kafkajs
 * would queue each empty batch, with a heartbeat.
 */
function hasRecords({ rawMessages }: FetchedBatch): boolean {
  return rawMessages.length > 0
}

/**
 * Passes batches of which no record is left (markers, aborted records) to `eachBatch`: otherwise
 * their offsets would never be committed.
 */
function neverEmpty(batch: FetchedBatch): FetchedBatch {
  batch.isEmpty = no
  return batch
}

/**
 * Shared: V8 moves what a function created for each batch refers to into the old space (decision
 * 18).
 */
const no = (): boolean => false

/** By coordinator; each consumer has its own connection to it. */
const assignments = new WeakMap<Broker, Buffer>()

/** The last assignment received from this coordinator, with its user data. */
export function assignmentFrom(coordinator: Broker): Buffer | undefined {
  return assignments.get(coordinator)
}

/**
 * Defect: kafkajs drops the user data of an assignment (consumer/consumerGroup.js:233), in which
 * the cooperative assignor names the excess partitions.
 * Patch: keeps the assignment.
 * Remove when: kafkajs passes the user data on.
 */
function patchSyncGroup(): void {
  const { prototype } = internal<{ prototype: Broker }>('broker')
  const { syncGroup } = prototype
  prototype.syncGroup = async function (this: Broker, request) {
    const answer = await syncGroup.call(this, request)
    assignments.set(this, answer.memberAssignment)
    return answer
  }
}

interface Runner {
  readonly running: boolean
  fetch(nodeId: string): Promise<unknown>
}

/**
 * Defect: a consumer that is stopped while its fetchers are rebuilt, as after a change of leaders,
 * leaves fetchers that nothing stops (consumer/fetchManager.js:70). Each gets an empty answer
 * (consumer/runner.js:342) and asks again immediately: no timer and no signal is handled any
 * longer.
 * Patch: a fetch of a stopped consumer throws, which ends the fetcher.
 * Remove when: kafkajs stops the fetchers of a stopped consumer.
 */
function patchStoppedFetch(): void {
  const { prototype } = internal<{ prototype: Runner }>('consumer/runner')
  const { fetch } = prototype
  prototype.fetch = async function (this: Runner, nodeId) {
    if (!this.running) throw new Error('the consumer is stopped')
    return fetch.call(this, nodeId)
  }
}

interface OffsetManager {
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>
  resolveOffset(position: { topic: string; partition: number; offset: string }): void
}

/**
 * Defect: a batch that ends after a rejoin resolves an offset of a partition that was revoked. When
 * the member owns no partition of the topic, that is a `TypeError`
 * (consumer/offsetManager/index.js:106), and the consumer never starts again.
 * Patch: ignores offsets of partitions that are not assigned.
 * Remove when: kafkajs ignores them.
 */
function patchLateBatch(): void {
  const { prototype } = internal<{ prototype: OffsetManager }>('consumer/offsetManager')
  const resolve = prototype.resolveOffset
  prototype.resolveOffset = function (this: OffsetManager, position): void {
    if (this.memberAssignment[position.topic]?.includes(position.partition)) resolve.call(this, position)
  }
}
