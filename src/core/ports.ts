import type { Event } from './message/event.ts'
import type { DurationMs, EpochMs } from './time.ts'

// --- Clock

export type Cancel = () => void

/** The only way for `core` and `services` to get the time, timers and random ids. */
export interface Clock {
  /** Wall-clock time, adjusted to the brokers' clocks. It may jump. */
  now(): EpochMs
  /** Milliseconds of a monotonic clock, for deadlines and measurements. */
  monotonic(): number
  /**
   * Milliseconds of a clock that also runs while the machine is suspended, unlike `monotonic`.
   * Leases use it, so that they expire during a suspension.
   */
  boottime(): number
  after(delay: DurationMs, run: () => void): Cancel
  /** Calls `run` after the I/O callbacks of this event loop iteration, as `setImmediate` does. */
  soon(run: () => void): Cancel
  id(): string
}

// --- Kafka

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

export type RecordHeaders = Readonly<Record<string, string>>

export interface LogRecord extends TopicPartition {
  readonly offset: number
  /** The append time of the broker or the time of the producer, as configured for the topic. */
  readonly timestamp: EpochMs
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /**
   * Set when this record stands for a batch that could not be read. Its `offset` is then the last
   * offset of the batch.
   */
  readonly unreadBatch?: UnreadBatch
}

/**
 * A batch that cannot be decoded, or is too large when decompressed (`patch-fetched-batches.ts`).
 */
export interface UnreadBatch {
  readonly firstOffset: number
  /** Length of the compressed batch in bytes. */
  readonly length: number
  /** The first 64 KiB of the compressed batch. */
  readonly bytes: Buffer
  readonly why: string
}

/**
 * Records of one partition in offset order. Offsets can have gaps, caused by compaction and
 * transaction markers. Each batch starts where the previous one ended, or where `seek` pointed to.
 * The consumer discards the records of a fetch that was in progress during a seek.
 */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly LogRecord[]
  /**
   * The offset of the next fetch. After a gap, it is more than 1 above the offset of the last
   * record.
   */
  readonly nextOffset: number
  /** The end offset of the partition at this fetch. The lag is computed from it. */
  readonly highWatermark: number
  /**
   * True when retention has deleted records before `nextOffset` that the consumer has not read. The
   * batch then has no records.
   */
  readonly isAfterLoss?: boolean
}

/**
 * A group's position in one partition. Kafka stores `metadata` and returns it to the next owner.
 */
export interface Position extends TopicPartition {
  /** The next offset to process. */
  readonly offset: number
  readonly metadata: string
  /**
   * True when the partition is assigned again, because its log ended below the earlier position:
   * the log was truncated, or the topic was created again. Records before `offset` may be lost.
   */
  readonly isTruncated?: boolean
  /**
   * True when the group has no committed offset, and `offset` is the beginning of the log, above 0.
   * If the group has read the partition before, Kafka deleted its committed offset, for example
   * because the group had no member for 7 days. Records before `offset` may then be lost.
   */
  readonly isUncommitted?: boolean
}

export interface LogConsumerHandlers {
  /**
   * Called with newly assigned partitions and their start offsets. The handler must discard the
   * state that it has of these partitions from an earlier assignment.
   */
  onAssigned(positions: readonly Position[]): void
  /** Called with a fetched batch. The handler must not block or throw. */
  onRecords(batch: RecordBatch): void
  /**
   * Called with revoked partitions. The handler must discard their state, because another process
   * may own them now.
   */
  onRevoked(partitions: readonly TopicPartition[]): void
  /**
   * Called after every join with all partitions that will be revoked, or with an empty list. The
   * handler must start no deliveries or other work for these partitions, and resolve when no work
   * for them is in progress. If a later call does not list a partition, this member keeps it, and
   * the handler may start work for it again.
   * At `deadline`, in monotonic milliseconds, the positions of the partitions are committed even if
   * work is in progress.
   */
  onRevoking(partitions: readonly TopicPartition[], deadline: number): Promise<void>
  /** Called when the member gets the session lease (`holdsLease`), also for the first time. */
  onLeaseRegained(): void
  /** Returns the positions to commit. Called by a timer, before a rejoin, and by `stop`. */
  positions(): readonly Position[]
}

/**
 * A member of a consumer group. It commits only assigned partitions. It commits an offset below
 * an earlier commit only after a truncation of the log (`Position.isTruncated`).
 */
export interface LogConsumer {
  /** Resolves when this member has joined the group. */
  start(handlers: LogConsumerHandlers): Promise<void>
  pause(partition: TopicPartition): void
  resume(partition: TopicPartition): void
  /** Continues to fetch at `offset`. `onRecords` can then get the same records again. */
  seek(partition: TopicPartition, offset: number): void
  /** Commits the positions and leaves the group. Call it when no work is in progress. */
  stop(): Promise<void>
  /**
   * Whether this member holds the session lease: the group coordinator confirmed its membership
   * recently. Start no attempt and no write without the lease.
   */
  holdsLease(): boolean
  /** Milliseconds since a broker last responded to a Fetch, Heartbeat or SyncGroup request. */
  timeSinceContact(): DurationMs
  /**
   * Milliseconds since the consumer was last active: it opened a connection, or a request ended,
   * even with an error. A high value shows that the consumer is stuck.
   */
  inactivity(): DurationMs
}

export interface OutgoingRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /**
   * The partition. By default, the producer hashes the key with murmur2. Records without a key and
   * records of retry topics use one partition until a batch is sent, so that batches are larger.
   */
  readonly partition?: number
  /** The producer hashes this key instead of the record's own key to choose the partition. */
  readonly partitionKey?: Buffer
  /**
   * Called before each try to send the record. When it returns false, for example because the
   * process has lost the partition, the producer does not send the record, and `onAck` gets an
   * error.
   */
  readonly maySend?: () => boolean
}

/** `offset` and `appended` (the broker's append time) are set when the broker reports them. */
export type OnAck = (error: Error | undefined, offset?: number, appended?: EpochMs) => void

export interface LogProducer {
  /**
   * Queues a record and calls `onAck` once. A call without an error means that all in-sync replicas
   * have the record. The error `MESSAGE_TOO_LARGE` refers to this record, not to its batch.
   */
  append(topic: string, record: OutgoingRecord, onAck: OnAck): void
  /** Sends the queued records. Resolves when all of them are acknowledged or failed. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Reads single partitions outside any consumer group. */
export interface PartitionReader {
  /**
   * Reads to the current end offset and resolves with the number of records. The key and value of a
   * record are views of the whole fetch response. `onRecord` must copy a key or value that it
   * keeps, because otherwise the whole response stays in memory.
   */
  readPartition(
    partition: TopicPartition,
    onRecord: (record: LogRecord) => void | Promise<void>,
    /** The first offset to read; by default the beginning. */
    from?: number,
  ): Promise<number>
  /** The last stable offset: a read up to it does not wait for an open transaction. */
  endOf(partition: TopicPartition): Promise<number>
}

/** Reads the offsets of a topic. Each result has one entry per partition, in partition order. */
export interface LogPositions {
  /** The end offset of each partition. */
  ends(topic: string): Promise<readonly number[]>
  /** The committed offset of a group in each partition; -1 where nothing is committed. */
  committed(groupId: string, topic: string): Promise<readonly number[]>
}

export interface TopicFollowerHandlers {
  /**
   * Called with the records of each partition in offset order. The handler must not block or throw.
   */
  onRecord(record: LogRecord): void
  /**
   * Called about every 0.5 s while the follower is up to date. `asOf` is a time of
   * `Clock.boottime`. `onRecord` has already been called with all records that Kafka acknowledged
   * before this time.
   */
  onCurrent(asOf: number): void
  /**
   * Called when Kafka has lost records of a partition that were read: the log of the partition was
   * truncated, or the topic was deleted and created again. The follower then reads the partition
   * again from its beginning.
   */
  onTruncated?(partition: number): void
}

/**
 * Follows one topic outside any consumer group, so that each process gets all records.
 */
export interface TopicFollower {
  /**
   * Resolves at the first call of `onCurrent`. Rejects if the topic still cannot be read after the
   * last retry. After a rejection, `start` may be called again, until `stop` is called.
   */
  start(handlers: TopicFollowerHandlers): Promise<void>
  stop(): Promise<void>
}

export interface TopicDescription {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  /** Number of partitions without a leader. Clients can neither read nor write them. */
  readonly leaderless?: number
  /**
   * Number of partitions with a leader, but with fewer in-sync replicas than `min.insync.replicas`.
   * Kafka refuses writes to them.
   */
  readonly underMinIsr?: number
  /** The configuration of the topic in Kafka, for example `cleanup.policy` and `retention.ms`. */
  readonly config: Readonly<Record<string, string>>
}

export interface TopicAdmin {
  listTopics(): Promise<readonly string[]>
  describe(topics: readonly string[]): Promise<readonly TopicDescription[]>
  create(topic: {
    name: string
    partitions: number
    replicationFactor: number
    config: Readonly<Record<string, string>>
  }): Promise<void>
  close(): Promise<void>
}

/**
 * A value that cannot be decoded, because its bytes are damaged or not in Hookline's format.
 * Reading it again does not help.
 */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly detail: string
}

/**
 * A value that cannot be decoded yet, because the schema with which it was written is unknown.
 * Decode it again after `learn(schemaId)` has resolved.
 */
export interface SchemaNeeded {
  readonly kind: 'schema_needed'
  readonly schemaId: number
}

/** The decoded value of an event record. */
export type Decoded = { readonly kind: 'event'; readonly event: Event } | Undecodable | SchemaNeeded

export interface EventCodec {
  encode(event: Event): Buffer
  /**
   * Decodes an event. If another program wrote the event, two times may be missing. `receivedAt`
   * replaces a missing receive time, and the receive time replaces a missing timestamp. For the
   * value of a retry record or a dead letter, the caller must pass the timestamp of the original
   * record as `receivedAt`, so that the event has the same times in every topic.
   */
  decode(value: Buffer, receivedAt: EpochMs): Decoded
  /**
   * Reads a schema from the registry. Resolves with false if the registry does not know the id.
   * Rejects if the registry is unreachable; a later call can succeed.
   */
  learn(schemaId: number): Promise<boolean>
}

export type DecodedValue<Value> = { readonly kind: 'value'; readonly value: Value } | Undecodable | SchemaNeeded

/** Encodes and decodes the values of a topic that only Hookline writes to. */
export interface ValueCodec<Value> {
  encode(value: Value): Buffer
  decode(value: Buffer): DecodedValue<Value>
  /**
   * Reads a schema from the registry. Resolves with false if the registry does not know the id.
   * Rejects if the registry is unreachable; a later call can succeed.
   */
  learn(schemaId: number): Promise<boolean>
}

// --- Log lines, and topics that operators read

/** Writes log lines. The fields never contain secrets, bodies or query strings. */
export interface Logger {
  /** Whether debug lines are written. Check it before computing expensive fields. */
  isLevelEnabled(level: 'debug'): boolean
  debug(fields: object, line: string): void
  info(fields: object, line: string): void
  warn(fields: object, line: string): void
  error(fields: object, line: string): void
}

/** Reads whole topics outside any consumer group. */
export interface TopicReader {
  /**
   * Reads every record up to the end offsets that the partitions have when the call begins, and
   * awaits the result of `onRecord`. Resolves with the number of records.
   */
  readToEnd(topic: string, onRecord: (record: LogRecord) => void | Promise<void>, portion?: Portion): Promise<number>
}

/** Selects a part of a topic. Without any field, all of it is read. */
export interface Portion {
  /** Reads only the partition to which records with this key belong. */
  readonly key?: Buffer
  /** Reads only records that were appended at this time or later. */
  readonly since?: EpochMs
  /** The first offset to read in each partition, by partition. Absent: the beginning. */
  readonly from?: readonly number[]
  /**
   * The offset before which reading stops, by partition. A partition without an entry is not read.
   * Absent: up to the current end.
   */
  readonly to?: readonly number[]
  /** Called before each record, and possibly more often. When it returns true, reading stops. */
  readonly isEnough?: () => boolean
  /**
   * Called when retention has removed the next records of a partition before they were read.
   * Reading continues at `firstOffset`, the first offset that retention has kept.
   */
  readonly onRemoved?: ((partition: number, firstOffset: number) => void) | undefined
}
