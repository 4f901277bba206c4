import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import type { UnreadBatch } from '../../../core/ports.ts'

/*
 * The private parts of kafkajs that Hookline calls or replaces, with their types. They are valid
 * for exactly one version, which `kafkajs.ts` asserts. Offsets are decimal strings here.
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
  /** Set by `patches/fetched-batches.ts` for a batch that cannot be read. */
  readonly unreadBatch?: UnreadBatch
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean }
}

export interface FetchedPartition {
  readonly partition: number
  readonly highWatermark: string
  /** The first offset of the oldest open transaction; without one the high watermark. */
  readonly lastStableOffset: string
  abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[]
  messages: FetchedMessage[]
}

export interface Broker {
  /** By API key; known after the connection is made. */
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

export interface Cluster {
  /** The bootstrap broker that it is connected to. */
  readonly brokerPool: { readonly seedBroker: Broker }
  connect(): Promise<void>
  disconnect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  refreshMetadata(): Promise<void>
  /** Returns a connected broker. */
  findGroupCoordinator(group: { readonly groupId: string }): Promise<Broker>
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number | null }[]
  /** Partitions by leader; producers name partitions by text. */
  findLeaderForPartitions(topic: string, partitions: readonly (number | string)[]): Readonly<Record<string, number[]>>
  findBroker(node: { readonly nodeId: number | string }): Promise<Broker>
  fetchTopicsOffset(
    topics: readonly (TopicPartitions & { readonly fromBeginning: boolean; readonly fromTimestamp?: number })[],
  ): Promise<readonly TopicPartitions<{ partition: number; offset: string }>[]>
}

/** What one fetch returned for one partition. */
export interface FetchedBatch {
  readonly topic: string
  readonly partition: number
  readonly fetchedOffset: string
  readonly highWatermark: string
  /** Without aborted and control records. */
  readonly messages: readonly FetchedMessage[]
  readonly rawMessages: readonly FetchedMessage[]
  lastOffset(): string
  isEmpty(): boolean
}

export interface ConsumerGroup {
  readonly cluster: Cluster
  readonly groupId: string
  coordinator: Broker
  /** Sends the commits. */
  readonly offsetManager: { coordinator: Broker }
  readonly generationId: number
  readonly memberId: string | null
  /** Milliseconds; read before each fetch. */
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
  /** Partitions by the broker that each is read from. */
  findReadReplicaForPartitions(
    topic: string,
    partitions: readonly (number | string)[],
  ): Readonly<Record<string, number[]>>
  recoverFromOffsetOutOfRange(error: { readonly topic: string; readonly partition: number }): Promise<void>
}

/** The export of one of kafkajs's own files, for example `consumer/batch`. */
export function internal<T>(file: string): T {
  return privateModule(`kafkajs/src/${file}`).exports as T
}

/**
 * Replaces the export of one of kafkajs's own files. Files that loaded it before keep the old
 * export.
 */
export function replaceInternal<T>(file: string, replacement: T): void {
  privateModule(`kafkajs/src/${file}`).exports = replacement
}

/*
 * Hookline's private instance of kafkajs, loaded from the same files: other users of kafkajs in the
 * process do not see the patches.
 */

const require = createRequire(import.meta.url)
const folder = `${dirname(require.resolve('kafkajs/package.json'))}${sep}`
/** Our modules by file name, loaded or loading. */
const ours = new Map<string, NodeModule>()

/**
 * The module of one of kafkajs's files in our instance. Never ask for its main file: tracing agents
 * hook that one and return the application's instance.
 */
export function privateModule(id: string): NodeModule {
  const file = require.resolve(id)
  const found = ours.get(file) ?? load(file)
  if (found === undefined) throw new Error(`${id} is not in the module cache: is require() replaced in this process?`)
  return found
}

/**
 * Loads a file into our instance. Node keeps one instance of each file in `require.cache`: during a
 * load, which is synchronous, the cache has only our modules of kafkajs, afterwards the others
 * again.
 */
function load(file: string): NodeModule | undefined {
  const { cache } = require
  const others = takeOut()
  for (const [name, module] of ours) cache[name] = module
  try {
    require(file)
  } finally {
    for (const [name, module] of takeOut()) {
      if (!ours.has(name)) keepPrivate(module)
      ours.set(name, module)
    }
    for (const [name, module] of others) cache[name] = module
  }
  return ours.get(file)
}

/** Jest's cache ignores changes, but each test file has its own instance there anyway. */
function takeOut(): readonly (readonly [string, NodeModule])[] {
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
 * Lets a module require from our instance later, too: kafkajs loads the code of a request with the
 * first request of a kind, and requires it again with each one.
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
  // Jest's modules refuse it and do not need it.
  Reflect.set(module, 'require', requirePrivate)
}
