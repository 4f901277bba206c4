import type { Event } from './message/event.ts'
import type { DurationMs, EpochMs } from './units.ts'

// --- time and chance

export type Cancel = () => void

/** The only source of time and chance. */
export interface Clock {
  /** The brokers' time, as far as they have told it; may jump. */
  now(): EpochMs
  /** Milliseconds that only ever grow: for deadlines and measurements. */
  monotonic(): number
  /** The same, but also counts suspensions of the machine: for what another process may own by then. */
  boottime(): number
  after(delay: DurationMs, run: () => void): Cancel
  /** Runs when all that has come in by now has been looked at: in this turn of the event loop, before it waits again. */
  soon(run: () => void): Cancel
  /** A new unique id. */
  id(): string
}

// --- webhooks

/** One POST, ready to send. */
export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** All calls of a record share it. */
  readonly body: Buffer
}

/** Where a call failed. `address`: the target may not be dialled, nothing was sent. `deadline`: the time was over. */
export type CallPhase = 'address' | 'dns' | 'connect' | 'tls' | 'exchange' | 'deadline'

/** How a call ended. An answer counts from its complete head on; what its body does changes nothing. */
export type CallResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  /** `code` is the error's (`ECONNRESET`, `DEPTH_ZERO_SELF_SIGNED_CERT`, …), `detail` one line for the log. */
  | { readonly kind: 'failed'; readonly phase: CallPhase; readonly code: string; readonly detail: string }

export interface WebhookTransport {
  /** Makes one call under its one deadline; `onEnd` is called exactly once and never within `post` itself. */
  post(call: WebhookCall, onEnd: (result: CallResult) => void): void
  /** Drops idle connections; calls under way end first. */
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
  /** When the broker appended it or the producer made it, as the topic says. */
  readonly timestamp: EpochMs
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /** Instead of key, value and headers: a batch that is not read. The offset is its last one. */
  readonly unreadBatch?: UnreadBatch
}

/** A batch that unpacks to more than we hold, or that cannot be unpacked or read. */
export interface UnreadBatch {
  readonly firstOffset: number
  /** Compressed, in bytes. */
  readonly length: number
  /** The first 64 KiB of it, compressed. */
  readonly bytes: Buffer
  readonly why: string
}

/**
 * Records of one partition in offset order. Offsets have gaps (compaction, transaction markers). Batches follow each other
 * without a hole: each starts where the one before ended or where `seek` said; whatever a fetch under way at the time of a
 * seek brings from elsewhere is the consumer's to drop.
 */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly LogRecord[]
  /** The offset to go on from; beyond the last record's by more than one after a gap. */
  readonly nextOffset: number
  /** The partition's end as of this fetch, for the lag. */
  readonly highWatermark: number
}

/** A position of the group in one partition. `metadata` is stored with the commit and handed back on assignment. */
export interface Position extends TopicPartition {
  /** The next offset to handle. */
  readonly offset: number
  readonly metadata: string
}

export interface LogConsumerHandlers {
  /** Partitions that are now ours, with where to go on. Called before any record of them; what was held for them before is void. */
  onAssigned(positions: readonly Position[]): void
  /** Hands over; must return at once and must not throw. */
  onRecords(batch: RecordBatch): void
  /** Partitions that may be another's from now on: forget tracker and queue together. */
  onRevoked(partitions: readonly TopicPartition[]): void
  /**
   * These partitions, and no others, are to be given up: nothing of them may be started any more, what was held back of others may. Called
   * after every join, with none too. Resolves when nothing of them is under way.
   */
  onRevoking(partitions: readonly TopicPartition[]): Promise<void>
  /** `isConfirmed` holds again after it did not. */
  onConfirmed(): void
  /** What may be committed now; asked by the commit timer, before a rejoin and at the stop. */
  positions(): readonly Position[]
}

/** A member of a consumer group. Only assigned partitions are committed, only forward. */
export interface LogConsumer {
  /** Resolves when the group has been joined. */
  start(handlers: LogConsumerHandlers): Promise<void>
  pause(partition: TopicPartition): void
  resume(partition: TopicPartition): void
  /** Fetch again from `offset`; records already handed over may come once more. */
  seek(partition: TopicPartition, offset: number): void
  /** Commits what is done, leaves the group. The caller has drained before. */
  stop(): Promise<void>
  /** Whether the group confirmed in the last seconds that we are a member: if not, as after a freeze, nothing may start. Cheap. */
  isConfirmed(): boolean
  /** Milliseconds since the consumer last heard of the broker (fetch or heartbeat), on the monotonic clock. */
  silence(): DurationMs
  /** Milliseconds since it last heard of a broker or tried to reach one: while brokers are away it is active, not stuck. */
  inactivity(): DurationMs
}

export interface OutgoingRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /** Where the key alone does not say: else Java-compatible murmur2 of the key. */
  readonly partition?: number
  /** It goes where records with this key are, instead of those with its own. */
  readonly partitionKey?: Buffer
  /** Asked when its turn comes to be sent; false: it is answered with an error instead. Absent: it may. */
  readonly maySend?: () => boolean
}

/** `offset`: the record's own, where the broker says it. `appended`: its time by the broker's clock, where the topic keeps that. */
export type OnAck = (error: Error | undefined, offset?: number, appended?: EpochMs) => void

export interface LogProducer {
  /**
   * Queues a record; `onAck` is called once, without error only when all in-sync replicas have it.
   * `MESSAGE_TOO_LARGE` is about this record, not about its batch.
   */
  append(topic: string, record: OutgoingRecord, onAck: OnAck): void
  /** Sends what is queued; resolves when everything appended before is answered. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** As TopicReader, for single partitions. */
export interface PartitionReader {
  /** Key and value of a record are to be copied by whoever keeps them: they are views of all that was fetched at once. */
  readPartition(
    partition: TopicPartition,
    onRecord: (record: LogRecord) => void | Promise<void>,
    /** The first offset to read; absent: the beginning. */
    from?: number,
  ): Promise<number>
  /** The offset behind all that is committed in it. */
  endOf(partition: TopicPartition): Promise<number>
}

/** How far topics are written and groups have read. One number a partition, from partition 0 on. */
export interface LogPositions {
  /** The offsets behind the last records. */
  ends(topic: string): Promise<readonly number[]>
  /** What a group has committed; -1 where it has not. */
  committed(groupId: string, topic: string): Promise<readonly number[]>
}

export interface TopicFollowerHandlers {
  /** In order within each partition. Must return at once and must not throw. */
  onRecord(record: LogRecord): void
  /** Every record that was acknowledged before `asOf`, of the clock's `boottime`, has been handed over. Told about twice a second. */
  onCurrent(asOf: number): void
}

/** Follows one topic outside any group: whoever does gets all of it. A log that was cut is read again from its beginning. */
export interface TopicFollower {
  /** Resolves at the first `onCurrent`: all that stood there has been handed over. Rejects while the topic cannot be read. */
  start(handlers: TopicFollowerHandlers): Promise<void>
  stop(): Promise<void>
}

export interface TopicDescription {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  /** `cleanup.policy`, `retention.ms`, … as the broker has them. */
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

/** Damaged, or not ours: it never will be read. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly detail: string
}

/** Decode again once `learn(schemaId)` has resolved. */
export interface SchemaNeeded {
  readonly kind: 'schema_needed'
  readonly schemaId: number
}

/** What the bytes of an event record hold. */
export type Decoded = { readonly kind: 'event'; readonly event: Event } | Undecodable | SchemaNeeded

export interface EventCodec {
  encode(event: Event): Buffer
  /**
   * `receivedAt` stands in for a time received that a foreign producer left out (and then for a missing timestamp): the
   * record's timestamp when the record is first read, and the same value whenever its bytes are read again.
   */
  decode(value: Buffer, receivedAt: EpochMs): Decoded
  /** Fetches a writer's schema. False: the registry knows no such id. Rejects while the registry cannot be reached. */
  learn(schemaId: number): Promise<boolean>
}

export type DecodedValue<Value> = { readonly kind: 'value'; readonly value: Value } | Undecodable | SchemaNeeded

/** Reads and writes the values of a topic that only we write to. */
export interface ValueCodec<Value> {
  encode(value: Value): Buffer
  decode(value: Buffer): DecodedValue<Value>
  /** As an EventCodec's. */
  learn(schemaId: number): Promise<boolean>
}

// --- what operators see

/** Fields are facts, never secrets, bodies or query strings. */
export interface Logger {
  /** Whether lines at debug are written at all: where to gather their facts costs something. */
  isLevelEnabled(level: 'debug'): boolean
  debug(fields: object, line: string): void
  info(fields: object, line: string): void
  warn(fields: object, line: string): void
  error(fields: object, line: string): void
}

/** Reads whole topics outside any group. */
export interface TopicReader {
  /** Every record up to the ends noted at the start; awaits what `onRecord` returns. Resolves with how many records were read. */
  readToEnd(topic: string, onRecord: (record: LogRecord) => void | Promise<void>, portion?: Portion): Promise<number>
}

/** What is wanted of a topic: all of it, but for what is said here. */
export interface Portion {
  /** Only the partition of records with this key. */
  readonly key?: Buffer
  /** Only what was appended at this time or later. */
  readonly since?: EpochMs
  /** Asked before each record, at least; true, and from then on: no more of them. */
  readonly isEnough?: () => boolean
}
