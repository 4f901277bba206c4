import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import type { UnreadBatch } from '../../../core/ports.ts'

/*
 * This file has the types of kafkajs's private code for exactly one version of kafkajs;
 * `load-kafkajs.ts` rejects all other versions. kafkajs represents offsets as decimal strings.
 */

export interface TopicPartitions<Partition = { readonly partition: number }> {
  readonly topic: string
  readonly partitions: readonly Partition[]
}

export interface FetchedMessage {
  readonly offset: string
  readonly timestamp: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>
  readonly isControlRecord?: boolean
  /** Set by `patch-fetched-batches.ts` for a batch that cannot be read. */
  readonly unreadBatch?: UnreadBatch
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean }
}

export interface FetchedPartition {
  readonly partition: number
  readonly highWatermark: string
  /** The first offset of the oldest open transaction; without an open one, the high watermark. */
  readonly lastStableOffset: string
  abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[]
  messages: FetchedMessage[]
}

export interface Broker {
  /**
   * The versions that the broker supports, by the number of the request type (Kafka's *API key*).
   * Set when the connection is open.
   */
  readonly versions: Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>
  metadata(topics: readonly string[]): Promise<{ readonly brokers: readonly { host: string; port: number }[] }>
  produce(request: {
    readonly acks: number
    readonly timeout: number
    readonly topicData: readonly TopicPartitions<{
      partition: number
      messages: readonly { key: Buffer | null; value: Buffer | null }[]
    }>[]
  }): Promise<unknown>
  fetch(request: {
    readonly maxWaitTime: number
    readonly minBytes: number
    readonly maxBytes: number
    readonly isolationLevel: number
    readonly topics: readonly TopicPartitions<{ partition: number; fetchOffset: string; maxBytes: number }>[]
  }): Promise<{ readonly responses: readonly { topicName: string; partitions: readonly FetchedPartition[] }[] }>
  heartbeat(request: {
    readonly groupId: string
    readonly memberId: string
    readonly groupGenerationId: number
  }): Promise<unknown>
  syncGroup(request: object): Promise<{ readonly memberAssignment: Buffer }>
  offsetFetch(request: { readonly groupId: string; readonly topics: readonly TopicPartitions[] }): Promise<{
    readonly responses: readonly TopicPartitions<{ partition: number; offset: string; metadata: string | null }>[]
  }>
}

/** The metadata of topics. Error code 0: no error. */
export interface Metadata {
  readonly topicMetadata: readonly {
    readonly topic: string
    readonly topicErrorCode: number
    readonly partitionMetadata: readonly {
      readonly partitionErrorCode: number
      readonly partitionId: number
      /** The node id of the leader; -1 without a leader. */
      readonly leader: number
    }[]
  }[]
}

export interface Cluster {
  /** `seedBroker` is the connected bootstrap broker. */
  readonly brokerPool: { readonly seedBroker: Broker; readonly metadata: Metadata | null }
  /** The topics whose metadata the client refreshes. */
  readonly targetTopics: Set<string>
  connect(): Promise<void>
  disconnect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>
  refreshMetadata(): Promise<void>
  /** Refreshes the metadata when it is older than `metadataMaxAge`. */
  refreshMetadataIfNecessary(): Promise<void>
  /** Requests metadata of topics; without `topics`, of all topics. */
  metadata(request?: { readonly topics?: readonly string[] }): Promise<Metadata | null>
  /** Returns the coordinator of the group, with an open connection. */
  findGroupCoordinator(group: { readonly groupId: string }): Promise<Broker>
  /** The partitions of a topic; none if the topic is unknown. `leader` is -1 without a leader. */
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number | null }[]
  /**
   * Groups partitions by leader. Producers pass the partitions as strings.
   * @throws LEADER_NOT_AVAILABLE when a partition has no leader
   */
  findLeaderForPartitions(topic: string, partitions: readonly (number | string)[]): Readonly<Record<string, number[]>>
  findBroker(node: { readonly nodeId: number | string }): Promise<Broker>
  fetchTopicsOffset(
    topics: readonly (TopicPartitions & { readonly fromBeginning: boolean; readonly fromTimestamp?: number })[],
  ): Promise<readonly TopicPartitions<{ partition: number; offset: string }>[]>
  /** Stores a committed offset in this client, without a request. */
  markOffsetAsCommitted(commit: { groupId: string; topic: string; partition: number; offset: string }): void
}

/** The response to a fetch, for one partition. */
export interface FetchedBatch {
  readonly topic: string
  readonly partition: number
  readonly fetchedOffset: string
  readonly highWatermark: string
  /** The records from `fetchedOffset` on, without aborted transactions and control records. */
  readonly messages: readonly FetchedMessage[]
  /** Like `messages`, but also with control records and records below `fetchedOffset`. */
  readonly rawMessages: readonly FetchedMessage[]
  lastOffset(): string
  isEmpty(): boolean
}

export interface ConsumerGroup {
  readonly cluster: Cluster
  readonly groupId: string
  coordinator: Broker
  /**
   * The offset manager has its own `coordinator`, to which it sends commits. Code that replaces
   * `ConsumerGroup.coordinator` must replace this one too.
   */
  readonly offsetManager: { coordinator: Broker }
  readonly generationId: number
  readonly memberId: string | null
  /** Kafka's `fetch.max.wait.ms`. kafkajs reads it before each fetch. */
  maxWaitTime: number
  getNodeIds(): readonly string[]
  assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  pause(partitions: readonly { topic: string; partitions: readonly number[] }[]): void
  resume(partitions: readonly { topic: string; partitions: readonly number[] }[]): void
  seek(position: { topic: string; partition: number; offset: string }): void
  commitOffsets(offsets: {
    topics: readonly TopicPartitions<{ partition: number; offset: string; metadata: string }>[]
  }): Promise<void>
  leave(): Promise<void>
  joinAndSync(): Promise<void>
  heartbeat(options: { readonly interval: number }): Promise<void>
  fetch(nodeId: string): Promise<readonly FetchedBatch[]>
  /** Groups partitions by the broker from which this consumer reads them. */
  findReadReplicaForPartitions(
    topic: string,
    partitions: readonly (number | string)[],
  ): Readonly<Record<string, number[]>>
  recoverFromOffsetOutOfRange(error: { readonly topic: string; readonly partition: number }): Promise<void>
}

/** Returns the exports of a private file of kafkajs, for example `consumer/batch`. */
export function internal<T>(file: string): T {
  return privateModule(`kafkajs/src/${file}`).exports as T
}

/**
 * Replaces the exports of a private file of kafkajs. Files that have already loaded it keep the old
 * exports.
 */
export function replaceInternal<T>(file: string, replacement: T): void {
  privateModule(`kafkajs/src/${file}`).exports = replacement
}

/*
 * The code below loads a private instance of kafkajs, so that other users of kafkajs in the process
 * do not get the patches.
 */

const require = createRequire(import.meta.url)
const folder = `${dirname(require.resolve('kafkajs/package.json'))}${sep}`
/** The modules of the private instance by file name. */
const privateModules = new Map<string, NodeModule>()

/**
 * Loads a module of the private instance. Do not load kafkajs's main file: the hook of a tracing
 * agent on this file can return an unpatched instance.
 */
export function privateModule(id: string): NodeModule {
  const file = require.resolve(id)
  const found = privateModules.get(file) ?? load(file)
  if (found === undefined)
    throw new Error(`${id} is not in Node's module cache: another library in this process may replace require()`)
  return found
}

/**
 * Loads a file into the private instance. During the load, the private modules replace kafkajs's
 * entries in `require.cache`. No other code sees this, because a load is synchronous.
 */
function load(file: string): NodeModule | undefined {
  const { cache } = require
  const others = removeFromCache()
  for (const [name, module] of privateModules) cache[name] = module
  try {
    require(file)
  } finally {
    for (const [name, module] of removeFromCache()) {
      if (!privateModules.has(name)) keepPrivate(module)
      privateModules.set(name, module)
    }
    for (const [name, module] of others) cache[name] = module
  }
  return privateModules.get(file)
}

/**
 * Removes kafkajs's modules from `require.cache` and returns them. Jest's cache ignores the
 * removal, but in Jest each test file has its own instance anyway.
 */
function removeFromCache(): readonly (readonly [string, NodeModule])[] {
  const { cache } = require
  const taken: [string, NodeModule][] = []
  for (const name of Object.keys(cache)) {
    const module = name.startsWith(folder) ? cache[name] : undefined
    if (module === undefined) continue
    taken.push([name, module])
    delete cache[name]
  }
  return taken
}

/**
 * Makes a private module load other kafkajs modules as private ones. The change of `require` is
 * permanent, because kafkajs loads the code of a request each time it sends the request.
 */
function keepPrivate(module: NodeModule): void {
  const local = createRequire(module.filename)
  const known = new Map<string, NodeModule>()
  const requirePrivate = (id: string): unknown => {
    const before = known.get(id)
    if (before !== undefined) return before.exports
    const file = local.resolve(id)
    if (!file.startsWith(folder)) return local(id)
    const found = privateModule(file)
    known.set(id, found)
    return found.exports
  }
  // `Reflect.set` does not throw for Jest's modules, whose `require` is read-only.
  Reflect.set(module, 'require', requirePrivate)
}
