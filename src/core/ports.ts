import type { Event } from './message/event.ts'
import type { DurationMs, EpochMs } from './time.ts'

// --- Clock

export type Cancel = () => void

/** The only way for `core` and `services` to get times, timers and random ids. */
export interface Clock {
  /** Wall-clock time, adjusted to the brokers' clocks. It may jump. */
  now(): EpochMs
  /** Milliseconds of a monotonic clock, for deadlines and measurements. */
  monotonic(): number
  /** Milliseconds of a clock that also runs while the machine is suspended, for leases. */
  boottime(): number
  after(delay: DurationMs, run: () => void): Cancel
  /** Calls `run` after the I/O callbacks of this event loop iteration, like `setImmediate`. */
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
  /** The broker's append time or the producer's time, as configured for the topic. */
  readonly timestamp: EpochMs
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /**
   * Set when this record replaces a batch that could not be read. `offset` is then the batch's last
   * offset.
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
 * Records of a partition; their offsets may have gaps. A batch starts where the previous batch
 * ended. After a `seek`, the next batch starts at the offset of the `seek`, even if a fetch was in
 * progress.
 */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly LogRecord[]
  /** The offset of the next fetch, which may be after a gap. */
  readonly nextOffset: number
  /** The end offset of the partition at this fetch. */
  readonly highWatermark: number
  /**
   * True if retention has deleted unread records before `nextOffset`. The batch is then empty.
   */
  readonly isAfterLoss?: boolean
}

/** A group's position in one partition. The next owner gets `metadata` from Kafka. */
export interface Position extends TopicPartition {
  /** The next offset to process. */
  readonly offset: number
  readonly metadata: string
  /**
   * True if the log ended below the group's previous position, because the log was truncated or the
   * topic was created again. Records before `offset` may be lost.
   */
  readonly isTruncated?: boolean
  /**
   * True if the group has no committed offset (Kafka may have deleted it), and the log begins above
   * offset 0. Records before `offset` may be lost.
   */
  readonly isUncommitted?: boolean
}

export interface LogConsumerHandlers {
  /**
   * Called with newly assigned partitions and their start offsets. The handler must discard earlier
   * state of these partitions.
   */
  onAssigned(positions: readonly Position[]): void
  /** Must not block or throw. */
  onRecords(batch: RecordBatch): void
  /** Called with revoked partitions. The handler must discard their state. */
  onRevoked(partitions: readonly TopicPartition[]): void
  /**
   * Called after every join of the group, with the partitions that will be revoked, perhaps none.
   * The handler must start no work for them, and resolve when no work for them is in progress. This
   * member keeps a partition if a later call no longer lists the partition. At `deadline`
   * (monotonic ms), positions are committed even if work is in progress.
   */
  onRevoking(partitions: readonly TopicPartition[], deadline: number): Promise<void>
  /** Called each time the member gets the session lease (`holdsLease`), also the first time. */
  onLeaseAcquired(): void
  /** Returns the positions to commit. Called by a timer, before a rejoin, and by `stop`. */
  positions(): readonly Position[]
}

/**
 * A member of a consumer group. It lowers a committed offset only after a truncation of the log
 * (`Position.isTruncated`).
 */
export interface LogConsumer {
  /** Resolves when this member has joined the group. */
  start(handlers: LogConsumerHandlers): Promise<void>
  pause(partition: TopicPartition): void
  resume(partition: TopicPartition): void
  /** Continues to fetch at `offset`, possibly with the same records again. */
  seek(partition: TopicPartition, offset: number): void
  /** Commits the positions and leaves the group. Call it when no work is in progress. */
  stop(): Promise<void>
  /** Whether this member holds the session lease. Without it, start no attempt and no write. */
  holdsLease(): boolean
  /** Milliseconds since a broker last responded to a Fetch, Heartbeat or SyncGroup request. */
  timeSinceContact(): DurationMs
  /**
   * Time since the consumer last opened a connection or completed a request, even with an error. A
   * stuck consumer has a high value.
   */
  inactivity(): DurationMs
}

export interface OutgoingRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /**
   * The partition to write to. By default, the murmur2 hash of the key selects it. Records of retry
   * topics, and records without a key, go to one partition until a batch is sent, then to another.
   */
  readonly partition?: number
  /** The producer hashes this key, not the record's own, to choose the partition. */
  readonly partitionKey?: Buffer
  /**
   * Called before each try to send. If it returns false, the record is not sent, and `onAck` gets
   * an error.
   */
  readonly maySend?: () => boolean
}

/** `offset` and `appendedAt` (the broker's append time) are set if the broker reports them. */
export type OnAck = (error: Error | undefined, offset?: number, appendedAt?: EpochMs) => void

export interface LogProducer {
  /**
   * Queues a record. Later, calls `onAck` exactly once: without an error if all in-sync replicas
   * have the record, otherwise with an error. The error `MESSAGE_TOO_LARGE` means that this record
   * alone is too large, not only its batch.
   */
  append(topic: string, record: OutgoingRecord, onAck: OnAck): void
  /** Sends the queued records. Resolves when all are acknowledged or failed. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Reads single partitions outside any consumer group. */
export interface PartitionReader {
  /**
   * Reads to the current end offset. Resolves with the number of records. `onRecord` must copy keys
   * and values that it keeps.
   */
  readPartition(
    partition: TopicPartition,
    onRecord: (record: LogRecord) => void | Promise<void>,
    /** The first offset to read; by default the beginning. */
    from?: number,
  ): Promise<number>
  /** The last stable offset. A read up to this offset does not wait for an open transaction. */
  endOf(partition: TopicPartition): Promise<number>
}

/** Reads the offsets of a topic, one for each partition, in order. */
export interface LogPositions {
  /** The end offset of each partition. */
  ends(topic: string): Promise<readonly number[]>
  /** The committed offset of a group in each partition; -1 where nothing is committed. */
  committed(groupId: string, topic: string): Promise<readonly number[]>
}

export interface TopicFollowerHandlers {
  /** Gets the records of each partition in offset order. Must not block or throw. */
  onRecord(record: LogRecord): void
  /**
   * Called about every 0.5 s while the follower keeps up with the topic. Before the call,
   * `onRecord` has got all records that Kafka acknowledged before `asOf` (`Clock.boottime`).
   */
  onCurrent(asOf: number): void
  /**
   * Called when Kafka has lost records that were read. The partition is then read again from its
   * beginning.
   */
  onTruncated?(partition: number): void
}

/** Follows one topic without a consumer group, so that each process gets all records. */
export interface TopicFollower {
  /**
   * Resolves at the first `onCurrent`. Rejects if the topic is unreadable after all retries. Then
   * `start` may be called again.
   */
  start(handlers: TopicFollowerHandlers): Promise<void>
  stop(): Promise<void>
}

export interface TopicDescription {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  /** Number of partitions without a leader, which nobody can read or write. */
  readonly leaderless?: number
  /**
   * Number of partitions with a leader but fewer in-sync replicas than `min.insync.replicas`. Kafka
   * refuses writes to them.
   */
  readonly underMinIsr?: number
  /** Topic configuration in Kafka, for example `cleanup.policy` and `retention.ms`. */
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

/** A value whose bytes are damaged or not in Hookline's format. Reading it again does not help. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly detail: string
}

/** A value whose schema is not known yet. Decode it again after `learn(schemaId)` has resolved. */
export interface SchemaNeeded {
  readonly kind: 'schema_needed'
  readonly schemaId: number
}

/** The decoded value of an event record. */
export type Decoded = { readonly kind: 'event'; readonly event: Event } | Undecodable | SchemaNeeded

export interface EventCodec {
  encode(event: Event): Buffer
  /**
   * `receivedAt` replaces a missing receive time. Pass the timestamp of the event's record on the
   * events topic, also when `value` comes from a retry record or a dead letter.
   */
  decode(value: Buffer, receivedAt: EpochMs): Decoded
  /**
   * Reads a schema from the registry. Resolves with false for an unknown id; rejects if the
   * registry is unreachable.
   */
  learn(schemaId: number): Promise<boolean>
}

export type DecodedValue<Value> = { readonly kind: 'value'; readonly value: Value } | Undecodable | SchemaNeeded

/** Encodes and decodes the values of a topic that only Hookline writes to. */
export interface ValueCodec<Value> {
  encode(value: Value): Buffer
  decode(value: Buffer): DecodedValue<Value>
  /**
   * Reads a schema from the registry. Resolves with false for an unknown id; rejects if the
   * registry is unreachable.
   */
  learn(schemaId: number): Promise<boolean>
}

// --- Log lines, and topics that operators read

/** The fields never contain secrets, bodies or query strings. */
export interface Logger {
  /** Check this before computing expensive fields. */
  isLevelEnabled(level: 'debug'): boolean
  debug(fields: object, line: string): void
  info(fields: object, line: string): void
  warn(fields: object, line: string): void
  error(fields: object, line: string): void
}

/** Reads whole topics outside any consumer group. */
export interface TopicReader {
  /**
   * Reads the records that exist at the start, awaits each `onRecord`, and resolves with the number
   * of records.
   */
  readToEnd(topic: string, onRecord: (record: LogRecord) => void | Promise<void>, portion?: Portion): Promise<number>
}

/** A part of a topic, by default all of it. */
export interface Portion {
  /** Only the partition of this key. */
  readonly key?: Buffer
  /** Only records that were appended at this time or later. */
  readonly since?: EpochMs
  /** The first offset to read, by partition. Absent: the beginning. */
  readonly from?: readonly number[]
  /**
   * The end of the read (exclusive), by partition. A partition without an entry is not read.
   * Absent: the current end.
   */
  readonly to?: readonly number[]
  /** Called before each record, possibly more often. Reading stops when it returns true. */
  readonly mustStop?: () => boolean
  /**
   * Called when retention has removed the next records of a partition. Reading continues at
   * `firstOffset`.
   */
  readonly onRemoved?: ((partition: number, firstOffset: number) => void) | undefined
}

/** The offsets of a partition in a time span. */
export interface OffsetSpan extends TopicPartition {
  /** The offset of the first record that retention has kept. */
  readonly beginning: number
  /** The first offset of the span. */
  readonly from: number
  /** The first offset after the span. */
  readonly to: number
}

/** Finds offsets by time. */
export interface OffsetsByTime {
  /**
   * Returns the offsets of the records appended from `since` to before `until`, in partition order.
   * Default: the whole partition.
   */
  spans(
    topic: string,
    time?: { readonly since?: EpochMs | undefined; readonly until?: EpochMs | undefined },
  ): Promise<readonly OffsetSpan[]>
}
