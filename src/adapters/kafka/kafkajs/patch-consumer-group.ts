import type { TopicPartition } from '../../../core/ports.ts'
import type { DurationMs } from '../../../core/time.ts'
import { type UnreadablePartition, unreadablePartitionsIn } from './patch-fetch-errors.ts'
import { type Broker, type Cluster, type ConsumerGroup, type FetchedBatch, internal } from './private-api.ts'

/** The callbacks by which a Hookline consumer controls kafkajs's consumer group. */
export interface GroupHooks {
  /**
   * Wraps every join (JoinGroup and SyncGroup). kafkajs does not fetch until the promise resolves.
   */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void>
  /**
   * Called instead of kafkajs's heartbeat: after every batch, and after every fetch without a
   * batch. kafkajs joins again when the hook throws REBALANCE_IN_PROGRESS.
   */
  heartbeat(group: ConsumerGroup): Promise<void>
  /** Called before kafkajs sends LeaveGroup. */
  beforeLeave(): void
  /** Returns Kafka's `fetch.max.wait.ms` for the next fetch. */
  maxWait(): DurationMs
  /** Wraps every fetch from one broker. */
  fetch(fetch: () => Promise<readonly FetchedBatch[]>): Promise<readonly FetchedBatch[]>
  /**
   * Replaces kafkajs's handling of OFFSET_OUT_OF_RANGE: kafkajs would commit -2 or -1 and continue
   * at the beginning or the end of the log (consumer/consumerGroup.js:597).
   */
  outOfRange(group: ConsumerGroup, partition: TopicPartition): Promise<void>
  /**
   * Called when a broker cannot read some partitions of a fetch. The whole fetch then returns no
   * records.
   */
  unreadable(group: ConsumerGroup, partitions: readonly UnreadablePartition[]): void
}

/**
 * The hooks of each consumer. The key is the cluster client of the consumer: when `setGroupHooks`
 * is called, kafkajs has not created the `ConsumerGroup` yet.
 */
const hooksOf = new WeakMap<Cluster, GroupHooks>()

export function setGroupHooks(cluster: Cluster, hooks: GroupHooks): void {
  hooksOf.set(cluster, hooks)
}

export function patchConsumerGroup(): void {
  patchGroupHooks()
  patchSyncGroup()
  patchStoppedFetch()
  patchLateBatch()
}

/**
 * Defect: kafkajs awaits no callback before it revokes or fetches partitions
 * (consumer/consumerGroup.js:331, 442, 446, 597), or leaves the group (line 188).
 * Patch: calls the `GroupHooks` of a consumer.
 * Remove when: kafkajs supports cooperative rebalancing with awaited callbacks.
 */
function patchGroupHooks(): void {
  const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const { joinAndSync, fetch, heartbeat, leave, recoverFromOffsetOutOfRange } = prototype
  originalFetch = fetch

  prototype.joinAndSync = function (this: ConsumerGroup) {
    const join = (): Promise<void> => joinAndSync.call(this)
    return hooksOf.get(this.cluster)?.join(this, join) ?? join()
  }
  prototype.heartbeat = function (this: ConsumerGroup, options) {
    return hooksOf.get(this.cluster)?.heartbeat(this) ?? heartbeat.call(this, options)
  }
  prototype.leave = async function (this: ConsumerGroup) {
    hooksOf.get(this.cluster)?.beforeLeave()
    await leave.call(this)
  }
  prototype.fetch = async function (this: ConsumerGroup, nodeId) {
    const hooks = hooksOf.get(this.cluster)
    if (hooks === undefined) return fetch.call(this, nodeId)
    return hooks.fetch(() => fetchWithoutHooks(this, nodeId))
  }
  prototype.recoverFromOffsetOutOfRange = function (this: ConsumerGroup, error) {
    return hooksOf.get(this.cluster)?.outOfRange(this, error) ?? recoverFromOffsetOutOfRange.call(this, error)
  }
}

let originalFetch: ConsumerGroup['fetch'] | undefined

/**
 * Fetches once from one broker, also during a rebalance. Does not call the `fetch` hook, which
 * would wait until the rebalance ends.
 */
export async function fetchWithoutHooks(group: ConsumerGroup, nodeId: string): Promise<readonly FetchedBatch[]> {
  const hooks = hooksOf.get(group.cluster)
  if (hooks !== undefined) group.maxWaitTime = hooks.maxWait()
  try {
    const batches = (await originalFetch?.call(group, nodeId)) ?? []
    return batches.filter(hasRecords).map(neverEmpty)
  } catch (error) {
    const partitions = unreadablePartitionsIn(error)
    if (hooks === undefined || partitions.length === 0) throw error
    hooks.unreadable(group, partitions)
    return []
  }
}

/**
 * Whether a batch has records. A fetch response has a batch for every partition, and kafkajs would
 * send a heartbeat after each empty one.
 */
function hasRecords({ rawMessages }: FetchedBatch): boolean {
  return rawMessages.length > 0
}

/**
 * Makes kafkajs pass the batch to `eachBatch` even if it has only transaction markers and records
 * of aborted transactions. Otherwise their offsets would never be committed.
 */
function neverEmpty(batch: FetchedBatch): FetchedBatch {
  batch.isEmpty = alwaysFalse
  return batch
}

/**
 * The method `isEmpty`, shared by all batches. A separate function per batch would cost memory
 * (docs/decisions/0043, rule 10).
 */
const alwaysFalse = (): boolean => false

/**
 * The last assignment of each consumer. The key is the coordinator object, of which each consumer
 * has its own.
 */
const assignments = new WeakMap<Broker, Buffer>()

/** Returns the last assignment from this coordinator, including its user data. */
export function lastAssignmentFrom(coordinator: Broker): Buffer | undefined {
  return assignments.get(coordinator)
}

/**
 * Defect: kafkajs drops the user data of an assignment (consumer/consumerGroup.js:233), which
 * `assignor.ts` needs.
 * Patch: keeps the assignment as received.
 * Remove when: kafkajs exposes the user data.
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
 * Defect: if the consumer is stopped while kafkajs rebuilds its fetchers, the new ones never stop
 * (consumer/fetchManager.js:70), and block the event loop.
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
 * Defect: kafkajs resolves the offset of a batch even after its partition was revoked. If the
 * consumer has no other partition of the topic, a `TypeError` (consumer/offsetManager/index.js:106)
 * ends the consumer.
 * Patch: ignores offsets of partitions that are not assigned.
 * Remove when: kafkajs ignores these offsets.
 */
function patchLateBatch(): void {
  const { prototype } = internal<{ prototype: OffsetManager }>('consumer/offsetManager')
  const resolve = prototype.resolveOffset
  prototype.resolveOffset = function (this: OffsetManager, position): void {
    if (this.memberAssignment[position.topic]?.includes(position.partition)) resolve.call(this, position)
  }
}
