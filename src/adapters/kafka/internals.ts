import type { UnreadBatch } from '../../core/ports.ts'
import { privateModule } from './private-modules.ts'

/**
 * The parts of kafkajs that its types do not show and that we call or replace. They hold for exactly one version: see `library.ts`.
 * Offsets are decimal strings there.
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
  /** By `boundUnpacking`. */
  readonly unreadBatch?: UnreadBatch
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean }
}

export interface FetchedPartition {
  readonly partition: number
  readonly highWatermark: string
  /** Where the first open transaction begins, or as the high watermark. */
  readonly lastStableOffset: string
  abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[]
  messages: FetchedMessage[]
}

export interface Broker {
  /** By the number of the request; known once it is connected. */
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
  /** The one that was connected to first. */
  readonly brokerPool: { readonly seedBroker: Broker }
  connect(): Promise<void>
  disconnect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  refreshMetadata(): Promise<void>
  /** Connected. */
  findGroupCoordinator(group: { readonly groupId: string }): Promise<Broker>
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number | null }[]
  /** By the broker that leads each; producers name partitions by text. */
  findLeaderForPartitions(topic: string, partitions: readonly (number | string)[]): Readonly<Record<string, number[]>>
  findBroker(node: { readonly nodeId: number | string }): Promise<Broker>
  fetchTopicsOffset(
    topics: readonly (TopicPartitions & { readonly fromBeginning: boolean; readonly fromTimestamp?: number })[],
  ): Promise<readonly TopicPartitions<{ partition: number; offset: string }>[]>
}

/** What one fetch brought of one partition. */
export interface Batch {
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
  /** What commits. */
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
  fetch(nodeId: string): Promise<readonly Batch[]>
  /** By the broker that each is read from. */
  findReadReplicaForPartitions(
    topic: string,
    partitions: readonly (number | string)[],
  ): Readonly<Record<string, number[]>>
  recoverFromOffsetOutOfRange(error: { readonly topic: string; readonly partition: number }): Promise<void>
}

/** The export of one of kafkajs's own files, `consumer/batch` for example. */
export function internal<T>(file: string): T {
  return privateModule(`kafkajs/src/${file}`).exports as T
}

/** Replaces the export of one of kafkajs's own files; who has loaded the file before keeps the old one. */
export function replaceInternal<T>(file: string, replacement: T): void {
  privateModule(`kafkajs/src/${file}`).exports = replacement
}
