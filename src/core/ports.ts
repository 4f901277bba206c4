import type { Event } from './message/event.ts'
import type { DurationMs, EpochMs } from './units.ts'

// --- Clock

export type Cancel = () => void

/** The only source of time, timers and random ids. */
export interface Clock {
  /** Wall-clock time, adjusted to the brokers' clocks. It may jump. */
  now(): EpochMs
  /** Milliseconds of a monotonic clock, for deadlines and measurements. */
  monotonic(): number
  /**
   * As `monotonic`, but it also counts while the machine is suspended. For leases and ownership.
   */
  boottime(): number
  after(delay: DurationMs, run: () => void): Cancel
  /** Runs after the I/O callbacks of the current event loop iteration, as `setImmediate`. */
  soon(run: () => void): Cancel
  /** A new unique id. */
  id(): string
}

// --- webhooks

/** One POST request to a webhook, ready to send. */
export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** All requests for one record share this Buffer. */
  readonly body: Buffer
}

/** Where a request failed. `address`: not allowed, nothing was sent. `deadline`: time limit. */
export type CallPhase = 'address' | 'dns' | 'connect' | 'tls' | 'exchange' | 'deadline'

/** The result of a request. A response counts when its head is complete; its body is ignored. */
export type CallResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  /** `code`: the error's code, for example `ECONNRESET`. `detail`: one line for the log. */
  | { readonly kind: 'failed'; readonly phase: CallPhase; readonly code: string; readonly detail: string }

export interface WebhookTransport {
  /** Sends one request with one deadline. It calls `onEnd` exactly once, after it returned. */
  post(call: WebhookCall, onEnd: (result: CallResult) => void): void
  /** Closes idle connections. Resolves after the requests in progress have ended. */
  close(): Promise<void>
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
  /** Set when the batch could not be read. `offset` is then the batch's last offset. */
  readonly unreadBatch?: UnreadBatch
}

/** A batch that is too large when decompressed, or that cannot be decompressed or parsed. */
export interface UnreadBatch {
  readonly firstOffset: number
  /** Compressed, in bytes. */
  readonly length: number
  /** The first 64 KiB of the batch, compressed. */
  readonly bytes: Buffer
  readonly why: string
}

/**
 * Records of one partition in offset order. Offsets have gaps (compaction, transaction markers).
 * Each batch starts where the previous one ended, or where `seek` pointed to. The consumer discards
 * the records of a fetch that was in progress during a seek.
 */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly LogRecord[]
  /** The offset of the next fetch. After a gap it is more than one beyond the last record. */
  readonly nextOffset: number
  /** The end of the partition at this fetch, for the lag. */
  readonly highWatermark: number
}

/** A group's position in one partition. Kafka stores `metadata` and returns it on assignment. */
export interface Position extends TopicPartition {
  /** The next offset to process. */
  readonly offset: number
  readonly metadata: string
}

export interface LogConsumerHandlers {
  /** Newly assigned partitions and their start offsets. Discard older state of them. */
  onAssigned(positions: readonly Position[]): void
  /** Delivers a fetched batch. It must not block or throw. */
  onRecords(batch: RecordBatch): void
  /** Revoked partitions. Another process may own them: discard their trackers and queues. */
  onRevoked(partitions: readonly TopicPartition[]): void
  /**
   * All partitions that will be revoked: start nothing more for them, and resolve when nothing of
   * them is in progress. Called after every join, also with an empty list; records of the other
   * partitions may then start again.
   */
  onRevoking(partitions: readonly TopicPartition[]): Promise<void>
  /** `holdsLease` is true again after it was false. */
  onLeaseRegained(): void
  /** Returns what can be committed. Called by a timer, before a rejoin and at the stop. */
  positions(): readonly Position[]
}

/** A member of a consumer group. It commits only assigned partitions, and never a lower offset. */
export interface LogConsumer {
  /** Resolves when this member has joined the group. */
  start(handlers: LogConsumerHandlers): Promise<void>
  pause(partition: TopicPartition): void
  resume(partition: TopicPartition): void
  /** Fetches again from `offset`. Records may be delivered twice. */
  seek(partition: TopicPartition, offset: number): void
  /** Commits the processed records and leaves the group. The caller must have drained before. */
  stop(): Promise<void>
  /** Whether the group confirmed this membership recently. If not, nothing may start. Cheap. */
  holdsLease(): boolean
  /** Milliseconds since the broker last responded to a fetch or heartbeat. */
  timeSinceContact(): DurationMs
  /** Milliseconds since the last response or attempt to connect. It grows if the loop is stuck. */
  inactivity(): DurationMs
}

export interface OutgoingRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /** Chooses the partition. The default is murmur2 of the key, as in the Java client. */
  readonly partition?: number
  /** The partition is chosen by this key instead of the record's own key. */
  readonly partitionKey?: Buffer
  /** Called just before sending. When it returns false, the record fails with an error. */
  readonly maySend?: () => boolean
}

/** `offset` and `appended` (the broker's append time) are set when the broker reports them. */
export type OnAck = (error: Error | undefined, offset?: number, appended?: EpochMs) => void

export interface LogProducer {
  /**
   * Queues a record. `onAck` is called once, without an error only when all in-sync replicas have
   * the record. The error `MESSAGE_TOO_LARGE` refers to this record, not to its batch.
   */
  append(topic: string, record: OutgoingRecord, onAck: OnAck): void
  /** Sends the queued records. Resolves when all of them are acknowledged or failed. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Reads single partitions outside any consumer group. */
export interface PartitionReader {
  /** `onRecord` must copy key and value if it keeps them: they are views of the whole fetch. */
  readPartition(
    partition: TopicPartition,
    onRecord: (record: LogRecord) => void | Promise<void>,
    /** The first offset to read; by default the beginning. */
    from?: number,
  ): Promise<number>
  /** The offset after the last committed record of the partition. */
  endOf(partition: TopicPartition): Promise<number>
}

/** End offsets and committed offsets: one entry per partition, starting with partition 0. */
export interface LogPositions {
  /** The offsets after the last records. */
  ends(topic: string): Promise<readonly number[]>
  /** The committed offsets of a group; -1 where nothing is committed. */
  committed(groupId: string, topic: string): Promise<readonly number[]>
}

export interface TopicFollowerHandlers {
  /** Delivers the records of each partition in order. It must not block or throw. */
  onRecord(record: LogRecord): void
  /** All records acknowledged before `asOf` (`boottime`) are delivered. About twice a second. */
  onCurrent(asOf: number): void
}

/**
 * Follows one topic outside any consumer group, so that each process gets all records. It reads a
 * truncated log again from its beginning.
 */
export interface TopicFollower {
  /** Resolves at the first `onCurrent`. Rejects while the topic cannot be read. */
  start(handlers: TopicFollowerHandlers): Promise<void>
  stop(): Promise<void>
}

export interface TopicDescription {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  /** The broker's configuration, for example `cleanup.policy` and `retention.ms`. */
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

/** The bytes are damaged or not in Hookline's format. Reading them again does not help. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly detail: string
}

/** The writer's schema is unknown. Decode again after `learn(schemaId)` has resolved. */
export interface SchemaNeeded {
  readonly kind: 'schema_needed'
  readonly schemaId: number
}

/** The decoded value of an event record. */
export type Decoded = { readonly kind: 'event'; readonly event: Event } | Undecodable | SchemaNeeded

export interface EventCodec {
  encode(event: Event): Buffer
  /**
   * `receivedAt` replaces a receive time that a foreign producer left out, and then also a missing
   * timestamp. Pass the record's timestamp when the record is first read, and the same value
   * whenever its bytes are read again.
   */
  decode(value: Buffer, receivedAt: EpochMs): Decoded
  /** Fetches a schema. Resolves with false for an unknown id. Rejects without the registry. */
  learn(schemaId: number): Promise<boolean>
}

export type DecodedValue<Value> = { readonly kind: 'value'; readonly value: Value } | Undecodable | SchemaNeeded

/** Encodes and decodes the values of a topic that only Hookline writes to. */
export interface ValueCodec<Value> {
  encode(value: Value): Buffer
  decode(value: Buffer): DecodedValue<Value>
  /** As `learn` of `EventCodec`. */
  learn(schemaId: number): Promise<boolean>
}

// --- what operators see

/** Fields are facts. They never contain secrets, bodies or query strings. */
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
   * Reads every record up to the end offsets at the start, and awaits the result of `onRecord`.
   * Resolves with the number of records.
   */
  readToEnd(topic: string, onRecord: (record: LogRecord) => void | Promise<void>, portion?: Portion): Promise<number>
}

/** Selects a part of a topic. Without any field, all of it is read. */
export interface Portion {
  /** Reads only the partition of records with this key. */
  readonly key?: Buffer
  /** Reads only records that were appended at this time or later. */
  readonly since?: EpochMs
  /** Checked at least before each record. When it returns true, reading stops. */
  readonly isEnough?: () => boolean
}
