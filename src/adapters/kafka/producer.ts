import type { Producer } from 'kafkajs'
import { partitionFor } from '../../core/message/event.ts'
import type { Cancel, Clock, Logger, LogProducer, OnAck, OutgoingRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { partitionCount } from './admin.ts'
import { type AppendReading, appendReading } from './append-reading.ts'
import { batchLength, batchLimits, isWorthHalving, maxRecordBytes, recordBytes } from './batch.ts'
import { type KafkaClient, metadataMaxAgeMs, producerRetry } from './client.ts'
import { codeOfThrown, KafkaError, kafkaError, recordTooLarge, topicMissing } from './errors.ts'
import { loadKafkajs } from './library.ts'
import { heldBack, type Sending, type Stored, storedOf } from './produce-answer.ts'
import { Rounds } from './rounds.ts'

export type Compression = 'GZIP' | 'Snappy' | 'LZ4' | 'ZSTD'

export interface ProducerDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
  readonly compression?: Compression
  /** Topics whose records are in no hurry and may stand in any partition: those that come together go in one request. None. */
  readonly isPatient?: (topic: string) => boolean
  /** Called with the append time of each answer to a produce request. */
  readonly onAppended?: (reading: AppendReading) => void
}

/** How long a record waits for others. */
const linger = { usual: durationMs(5), patient: durationMs(20) }
/** How long the leader may wait for the replicas: less than the request may take, so that its answer comes. */
const replicationTimeoutMs = 8_000

interface Queued {
  readonly record: OutgoingRecord
  readonly bytes: number
  readonly round: number
  readonly onAck: OnAck
}

/** What waits for one partition. One request at a time: records stay in order. */
interface Lane {
  queue: Queued[]
  bytes: number
  isSending: boolean
}

interface Topic {
  readonly name: string
  /** Known after the first look; each request brings it up to date. */
  partitions: number | undefined
  /** What came before that. */
  waiting: Queued[]
  readonly lanes: Map<number, Lane>
  readonly isPatient: boolean
  /** The partition of records that may stand in any, for now; moves on with each flush, so that they make batches. */
  spread: number
  lingering: Cancel | undefined
}

/**
 * A producer on kafkajs: one request for each partition, because one for several may leave records out and say nothing (tulios/kafkajs#1798),
 * and its answer is checked. Connects with the first record. Errors are KafkaErrors: `TOPIC_MISSING`, `MESSAGE_TOO_LARGE`, `UNANSWERED`, ….
 */
export function createProducer(deps: ProducerDeps): LogProducer {
  return new BatchingProducer(deps)
}

class BatchingProducer implements LogProducer {
  readonly #deps: ProducerDeps
  readonly #producer: Producer
  readonly #topics = new Map<string, Topic>()
  readonly #rounds = new Rounds()
  #connected: Promise<void> | undefined
  #isStopped = false

  constructor(deps: ProducerDeps) {
    this.#deps = deps
    this.#producer = deps.kafka.producer({
      allowAutoTopicCreation: false,
      metadataMaxAge: metadataMaxAgeMs,
      retry: producerRetry,
      // Each record names its partition. kafkajs shows here how many it knows of, and asks before each of its tries.
      createPartitioner:
        () =>
        ({ topic, partitionMetadata, message }) => {
          this.#topic(topic).partitions = partitionMetadata.length
          const { maySend, partition } = message as Sending
          if (maySend?.() === false) throw heldBack(false)
          return partition
        },
    })
  }

  append(name: string, record: OutgoingRecord, onAck: OnAck): void {
    if (this.#isStopped) {
      const closed = new KafkaError('the producer is stopped', { code: 'CLOSED', retriable: false })
      return queueMicrotask(() => onAck(closed))
    }
    const bytes = recordBytes(record)
    if (bytes > maxRecordBytes) return queueMicrotask(() => onAck(recordTooLarge(name, bytes, maxRecordBytes)))
    const queued = { record, bytes, round: this.#rounds.enter(), onAck }
    const topic = this.#topic(name)
    if (topic.partitions !== undefined) return this.#enqueue(topic, topic.partitions, queued)
    if (topic.waiting.push(queued) === 1) void this.#look(topic)
  }

  async flush(): Promise<void> {
    const ended = this.#rounds.ended()
    for (const topic of this.#topics.values()) this.#sendAll(topic)
    await ended
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.flush()
    if (this.#connected !== undefined) await this.#producer.disconnect()
  }

  #topic(name: string): Topic {
    const known = this.#topics.get(name)
    if (known !== undefined) return known
    const topic: Topic = {
      ...{ name, partitions: undefined, waiting: [], lanes: new Map(), spread: 0, lingering: undefined },
      isPatient: this.#deps.isPatient?.(name) === true,
    }
    this.#topics.set(name, topic)
    return topic
  }

  /** Finds out how many partitions a topic has: that it is missing shows at once, and not after many tries. */
  async #look(topic: Topic): Promise<void> {
    let error: KafkaError | undefined
    try {
      topic.partitions = await partitionCount(this.#deps.kafka, topic.name)
    } catch (thrown) {
      error = kafkaError(`topic ${topic.name} cannot be looked up`, thrown)
    }
    const waiting = topic.waiting.splice(0)
    if (error !== undefined) return this.#answer(waiting, error)
    for (const queued of waiting) this.#enqueue(topic, topic.partitions as number, queued)
  }

  #enqueue(topic: Topic, partitions: number, queued: Queued): void {
    const { name, lanes, isPatient } = topic
    const { key, partitionKey: by = key } = queued.record
    const { partition = by === null || isPatient ? topic.spread : partitionFor(by, partitions) } = queued.record
    const lane = lanes.get(partition) ?? { queue: [], bytes: 0, isSending: false }
    lanes.set(partition, lane)
    lane.queue.push(queued)
    lane.bytes += queued.bytes
    if (lane.queue.length >= batchLimits.records || lane.bytes >= batchLimits.bytes)
      this.#sendFrom(name, partition, lane)
    else
      topic.lingering ??= this.#deps.clock.after(isPatient ? linger.patient : linger.usual, () => this.#sendAll(topic))
  }

  #sendAll(topic: Topic): void {
    topic.lingering?.()
    topic.lingering = undefined
    topic.spread = nextSpread(topic)
    for (const [partition, lane] of topic.lanes) if (lane.queue.length > 0) this.#sendFrom(topic.name, partition, lane)
  }

  #sendFrom(name: string, partition: number, lane: Lane): void {
    if (!lane.isSending) void this.#drain(name, partition, lane)
  }

  /** What comes in meanwhile has waited long enough when the answer is there. */
  async #drain(name: string, partition: number, lane: Lane): Promise<void> {
    lane.isSending = true
    while (lane.queue.length > 0) {
      const taken = lane.queue.splice(0, batchLength(lane.queue))
      for (const { bytes } of taken) lane.bytes -= bytes
      const batch = this.#withoutHeldBack(taken)
      if (batch.length > 0) await this.#send(name, partition, batch)
    }
    lane.isSending = false
  }

  /** A process that was frozen has queued what another one may have written by now, and more after it. */
  #withoutHeldBack(taken: readonly Queued[]): readonly Queued[] {
    const held = taken.filter(({ record }) => record.maySend?.() === false)
    if (held.length === 0) return taken
    this.#answer(held, heldBack(true))
    return taken.filter(queued => !held.includes(queued))
  }

  async #send(name: string, partition: number, batch: readonly Queued[]): Promise<void> {
    const answer = await this.#request(name, partition, batch)
    if (!(answer instanceof KafkaError)) return this.#answer(batch, undefined, answer)
    if (answer.code === 'HELD_BACK') {
      const left = this.#withoutHeldBack(batch)
      return left.length === 0 ? undefined : this.#send(name, partition, left)
    }
    if (!isWorthHalving(answer.code, batch.length)) return this.#answer(batch, answer)
    const half = Math.ceil(batch.length / 2)
    await this.#send(name, partition, batch.slice(0, half))
    await this.#send(name, partition, batch.slice(half))
  }

  async #request(topic: string, partition: number, batch: readonly Queued[]): Promise<Stored | KafkaError> {
    const { CompressionTypes } = loadKafkajs()
    try {
      await this.#connect()
      const sentAt = this.#deps.clock.monotonic()
      const answer = await this.#producer.send({
        topic,
        acks: -1,
        timeout: replicationTimeoutMs,
        compression: CompressionTypes[this.#deps.compression ?? 'None'],
        messages: batch.map(({ record: { key, value, headers, maySend } }): Sending => {
          return { key, value, headers, partition, maySend }
        }),
      })
      const reading = appendReading(answer, sentAt, this.#deps.clock.monotonic())
      if (reading !== undefined) this.#deps.onAppended?.(reading)
      return storedOf(answer, topic, partition, reading?.appended)
    } catch (thrown) {
      if (codeOfThrown(thrown) === 'UNKNOWN_TOPIC_OR_PARTITION') return topicMissing(topic, thrown)
      return kafkaError(`records for ${topic}/${partition} are not stored`, thrown)
    }
  }

  #connect(): Promise<void> {
    this.#connected ??= this.#producer.connect().catch((error: unknown) => {
      this.#connected = undefined
      throw error
    })
    return this.#connected
  }

  #answer(batch: readonly Queued[], error: KafkaError | undefined, { offset, appended }: Stored = { offset: 0 }): void {
    if (error !== undefined) this.#deps.logger.debug({ code: error.code, records: batch.length }, error.message)
    for (const [index, { round, onAck }] of batch.entries()) {
      if (error === undefined) onAck(undefined, offset + index, appended)
      else onAck(error)
      this.#rounds.leave(round)
    }
  }
}

/** The next partition with no request under way: one whose leader does not answer gets no more, as long as there is another. */
function nextSpread({ spread, partitions = 1, lanes }: Topic): number {
  const next = (spread + 1) % partitions
  for (let tries = 0; tries < partitions; tries++) {
    const candidate = (next + tries) % partitions
    if (lanes.get(candidate)?.isSending !== true) return candidate
  }
  return next
}
