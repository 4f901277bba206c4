import type { TopicPartition } from '../../../core/ports.ts'
import type { DurationMs } from '../../../core/units.ts'
import { type Batch, type Broker, type Cluster, type ConsumerGroup, internal } from '../internals.ts'

/** What a consumer of ours does around the steps of its group. Groups of others go on as they are. */
export interface GroupHooks {
  /** Around every join, whoever of kafkajs starts it: nothing is fetched by its caller before this resolves. */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void>
  /** Instead of kafkajs's own, after every fetch and batch. By throwing REBALANCE_IN_PROGRESS it makes kafkajs join again. */
  heartbeat(group: ConsumerGroup): Promise<void>
  /** How long a broker may keep a fetch that it has nothing for; asked before each. */
  maxWait(): DurationMs
  /** Around every fetch from one broker. */
  fetch(fetch: () => Promise<readonly Batch[]>): Promise<readonly Batch[]>
  /** Instead of kafkajs's own way, which commits -2 or -1 for the group and goes on at that end of the log. */
  outOfRange(group: ConsumerGroup, partition: TopicPartition): Promise<void>
}

/** By cluster: each consumer has its own, and is told of it before it has a group. */
const hooksOf = new WeakMap<Cluster, GroupHooks>()

export function setGroupHooks(cluster: Cluster, hooks: GroupHooks): void {
  hooksOf.set(cluster, hooks)
}

/** kafkajs has no hook that is awaited before partitions are given up, and none before the new ones are fetched. */
export function hookGroups(): void {
  const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const { joinAndSync, fetch, heartbeat, recoverFromOffsetOutOfRange } = prototype
  fetchOf = fetch

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

let fetchOf: ConsumerGroup['fetch'] | undefined

/** One fetch from one broker, with no hook around it: for while a join is under way. */
export async function fetchUnhooked(group: ConsumerGroup, nodeId: string): Promise<readonly Batch[]> {
  const hooks = hooksOf.get(group.cluster)
  if (hooks !== undefined) group.maxWaitTime = hooks.maxWait()
  const batches = (await fetchOf?.call(group, nodeId)) ?? []
  return batches.filter(hasRecords).map(showFiltered)
}

/** By coordinator, of which each consumer has its own connection. */
const assignments = new WeakMap<Broker, Buffer>()

/** The last assignment that this coordinator's consumer was given, with the user data that kafkajs drops. */
export function assignmentFrom(coordinator: Broker): Buffer | undefined {
  return assignments.get(coordinator)
}

/** kafkajs shows nobody the user data of an assignment. */
export function keepAssignments(): void {
  const { prototype } = internal<{ prototype: Broker }>('broker')
  const { syncGroup } = prototype
  prototype.syncGroup = async function (this: Broker, request) {
    const answer = await syncGroup.call(this, request)
    assignments.set(this, answer.memberAssignment)
    return answer
  }
}

/**
 * A fetch answers for every partition, most of which have nothing when events come one by one: kafkajs would take each through its queue,
 * with a heartbeat, to find that out.
 */
function hasRecords({ rawMessages }: Batch): boolean {
  return rawMessages.length > 0
}

/** Batches of which nothing is left (markers, aborted records) come to `eachBatch` too: else their offsets would never be committed. */
function showFiltered(batch: Batch): Batch {
  batch.isEmpty = no
  return batch
}

/** Not made for each batch: what a function that is assigned to a property refers to gets old (decision 43). */
const no = (): boolean => false
