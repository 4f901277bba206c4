import type { Message, Producer } from 'kafkajs'
import { flowLimits } from '../../../core/flow/flow-control-constants.ts'
import { partitionFor } from '../../../core/message/partition-for-key.ts'
import type { Cancel, Clock, Logger, LogProducer, OnAck, OutgoingRecord } from '../../../core/ports.ts'
import { type KafkaClient, metadataMaxAgeMs, producerRetry } from '../kafkajs/client.ts'
import { errorCodeOf, KafkaError, recordTooLarge, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/load-kafkajs.ts'
import { brokerError, leaderNotAvailable } from '../kafkajs/patch-metadata.ts'
import { partitionCount } from '../log/topic-admin.ts'
import {
  batchLimits,
  maxRecordBytes,
  nextBatchLength,
  recordBytes,
  shouldSplitBatch,
} from './batch-and-record-limits.ts'
import { type BrokerClockReading, brokerClockReading } from './broker-clock-reading.ts'
import { FlushBarrier } from './flush-barrier.ts'
import { type StoredBatch, storedBatchOf } from './produce-response.ts'

export type Compression = 'GZIP' | 'Snappy' | 'LZ4' | 'ZSTD'

export interface ProducerDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
  readonly compression?: Compression
  /**
   * Selects the topics for which fewer requests are more important than latency: their records
   * linger longer, and go to any partition regardless of their key. Defaults to none.
   */
  readonly prefersLargeBatches?: (topic: string) => boolean
  /** Called after each produce response that contains the broker's append time. */
  readonly onAppended?: (reading: BrokerClockReading) => void
}

/** How long a record waits for other records to join its batch, as Kafka's `linger.ms`. */
const { linger } = flowLimits.append
/**
 * How long the leader may wait for its followers to replicate a batch. It is below the request
 * timeout.
 */
const replicationTimeoutMs = 8_000

interface Queued {
  readonly record: OutgoingRecord
  readonly bytes: number
  /** The epoch that `FlushBarrier.add` returned for the record. */
  readonly epoch: number
  readonly onAck: OnAck
}

/** The queued records of one partition, sent with one request at a time to keep their order. */
interface PartitionQueue {
  waiting: Queued[]
  bytes: number
  isSending: boolean
}

interface Topic {
  readonly name: string
  /** The number of partitions; `undefined` until it is looked up. */
  partitions: number | undefined
  unpartitioned: Queued[]
  readonly queues: Map<number, PartitionQueue>
  readonly prefersLargeBatches: boolean
  /**
   * The partition for records without a key, and for all records if `prefersLargeBatches`. It
   * changes only when batches are sent, so that records share a batch.
   */
  stickyPartition: number
  cancelLinger: Cancel | undefined
  errorLookUp: Promise<unknown> | undefined
}

/**
 * Creates a producer that keeps the order within each partition. Each request has one partition:
 * with several, kafkajs may omit records and still report success (tulios/kafkajs#1798).
 * @throws KafkaErrors
 */
export function createProducer(deps: ProducerDeps): LogProducer {
  return new BatchingProducer(deps)
}

/** kafkajs passes the message, with these fields, to the partitioner. */
interface PartitionedMessage extends Message {
  readonly partition: number
  readonly maySend: OutgoingRecord['maySend'] | undefined
}

/** The error of a record whose `maySend` returned false. */
const recordWithdrawnError = (retriable: boolean): KafkaError =>
  new KafkaError('the record was not sent: the partition or job of this record no longer belongs to this process', {
    code: 'HELD_BACK',
    retriable,
  })

class BatchingProducer implements LogProducer {
  readonly #deps: ProducerDeps
  readonly #producer: Producer
  readonly #topics = new Map<string, Topic>()
  readonly #barrier = new FlushBarrier()
  #connected: Promise<void> | undefined
  #isStopped = false

  constructor(deps: ProducerDeps) {
    this.#deps = deps
    this.#producer = deps.kafka.producer({
      allowAutoTopicCreation: false,
      metadataMaxAge: metadataMaxAgeMs,
      retry: producerRetry,
      // kafkajs calls the partitioner before each attempt to send, so the partitioner also updates
      // the partition count, and throws when `maySend` of a record returns false.
      createPartitioner:
        () =>
        ({ topic, partitionMetadata, message }) => {
          this.#topic(topic).partitions = partitionMetadata.length
          const { maySend, partition } = message as PartitionedMessage
          if (maySend?.() === false) throw recordWithdrawnError(false)
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
    const queued = { record, bytes, epoch: this.#barrier.add(), onAck }
    const topic = this.#topic(name)
    if (topic.partitions !== undefined) return this.#enqueue(topic, topic.partitions, queued)
    if (topic.unpartitioned.push(queued) === 1) void this.#lookUpPartitions(topic)
  }

  async flush(): Promise<void> {
    const drained = this.#barrier.drained()
    for (const topic of this.#topics.values()) this.#sendAll(topic)
    await drained
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
      name,
      partitions: undefined,
      unpartitioned: [],
      queues: new Map(),
      prefersLargeBatches: this.#deps.prefersLargeBatches?.(name) === true,
      stickyPartition: 0,
      cancelLinger: undefined,
      errorLookUp: undefined,
    }
    this.#topics.set(name, topic)
    return topic
  }

  /**
   * Looks up the number of partitions of a topic. The records of a missing topic fail immediately;
   * kafkajs's producer would retry for seconds.
   */
  async #lookUpPartitions(topic: Topic): Promise<void> {
    let error: KafkaError | undefined
    try {
      topic.partitions = await partitionCount(this.#deps.kafka, topic.name)
    } catch (thrown) {
      error = toKafkaError(`cannot look up the partitions of topic ${topic.name}`, thrown)
    }
    const waiting = topic.unpartitioned.splice(0)
    if (error !== undefined) return this.#acknowledge(waiting, error)
    for (const queued of waiting) this.#enqueue(topic, topic.partitions as number, queued)
  }

  #enqueue(topic: Topic, partitions: number, queued: Queued): void {
    const { queues, prefersLargeBatches, stickyPartition } = topic
    const { key, partitionKey = key } = queued.record
    const isSticky = partitionKey === null || prefersLargeBatches
    const { partition = isSticky ? stickyPartition : partitionFor(partitionKey, partitions) } = queued.record
    const queue = queues.get(partition) ?? { waiting: [], bytes: 0, isSending: false }
    queues.set(partition, queue)
    queue.waiting.push(queued)
    queue.bytes += queued.bytes
    if (queue.waiting.length >= batchLimits.records || queue.bytes >= batchLimits.bytes) {
      this.#sendFrom(topic.name, partition, queue)
      return
    }
    const delay = prefersLargeBatches ? linger.patient : linger.usual
    topic.cancelLinger ??= this.#deps.clock.after(delay, () => this.#sendAll(topic))
  }

  #sendAll(topic: Topic): void {
    topic.cancelLinger?.()
    topic.cancelLinger = undefined
    topic.stickyPartition = nextStickyPartition(topic)
    for (const [partition, queue] of topic.queues)
      if (queue.waiting.length > 0) this.#sendFrom(topic.name, partition, queue)
  }

  #sendFrom(name: string, partition: number, queue: PartitionQueue): void {
    if (!queue.isSending) void this.#drain(name, partition, queue)
  }

  async #drain(name: string, partition: number, queue: PartitionQueue): Promise<void> {
    queue.isSending = true
    while (queue.waiting.length > 0) {
      const taken = queue.waiting.splice(0, nextBatchLength(queue.waiting))
      for (const { bytes } of taken) queue.bytes -= bytes
      const batch = this.#withoutWithdrawn(taken)
      if (batch.length > 0) await this.#send(name, partition, batch)
    }
    queue.isSending = false
  }

  /**
   * Removes the records whose `maySend` returns false, and calls their `onAck` with an error.
   * `maySend` is false, for example, if this process was frozen and another process now writes
   * these records.
   */
  #withoutWithdrawn(taken: readonly Queued[]): readonly Queued[] {
    const withdrawn = taken.filter(({ record }) => record.maySend?.() === false)
    if (withdrawn.length === 0) return taken
    this.#acknowledge(withdrawn, recordWithdrawnError(true))
    return taken.filter(queued => !withdrawn.includes(queued))
  }

  async #send(name: string, partition: number, batch: readonly Queued[]): Promise<void> {
    const answer = await this.#request(name, partition, batch)
    if (!(answer instanceof KafkaError)) return this.#acknowledge(batch, undefined, answer)
    if (answer.code === 'HELD_BACK') {
      const remaining = this.#withoutWithdrawn(batch)
      return remaining.length === 0 ? undefined : this.#send(name, partition, remaining)
    }
    if (!shouldSplitBatch(answer.code, batch.length)) return this.#acknowledge(batch, answer)
    const half = Math.ceil(batch.length / 2)
    await this.#send(name, partition, batch.slice(0, half))
    await this.#send(name, partition, batch.slice(half))
  }

  async #request(topic: string, partition: number, batch: readonly Queued[]): Promise<StoredBatch | KafkaError> {
    const { CompressionTypes } = loadKafkajs()
    try {
      await this.#connect()
      const sentAt = this.#deps.clock.monotonic()
      const answer = await this.#producer.send({
        topic,
        acks: -1,
        timeout: replicationTimeoutMs,
        compression: CompressionTypes[this.#deps.compression ?? 'None'],
        messages: batch.map(({ record: { key, value, headers, maySend } }): PartitionedMessage => {
          return { key, value, headers, partition, maySend }
        }),
      })
      const reading = brokerClockReading(answer, sentAt, this.#deps.clock.monotonic())
      if (reading !== undefined) this.#deps.onAppended?.(reading)
      return storedBatchOf(answer, topic, partition, reading?.appendedAt)
    } catch (thrown) {
      // For any topic without metadata, patched kafkajs throws METADATA_NOT_LOADED without the
      // cause (`patch-metadata.ts`), so the cause is looked up.
      const cause = errorCodeOf(thrown) === 'METADATA_NOT_LOADED' ? await this.#errorOf(topic) : thrown
      if (errorCodeOf(cause) === 'UNKNOWN_TOPIC_OR_PARTITION') return topicMissing(topic, cause)
      return toKafkaError(`cannot write records to ${topic}/${partition}`, cause)
    }
  }

  /** Looks up why a topic has no metadata. Concurrent calls share one look-up. */
  #errorOf(name: string): Promise<unknown> {
    const topic = this.#topic(name)
    topic.errorLookUp ??= partitionCount(this.#deps.kafka, name)
      .then(
        () => brokerError(leaderNotAvailable),
        (error: unknown) => error,
      )
      .finally(() => {
        topic.errorLookUp = undefined
      })
    return topic.errorLookUp
  }

  #connect(): Promise<void> {
    this.#connected ??= this.#producer.connect().catch((error: unknown) => {
      this.#connected = undefined
      throw error
    })
    return this.#connected
  }

  #acknowledge(
    batch: readonly Queued[],
    error: KafkaError | undefined,
    { offset, appendedAt }: StoredBatch = { offset: 0 },
  ): void {
    if (error !== undefined) this.#deps.logger.debug({ code: error.code, records: batch.length }, error.message)
    for (const [index, { epoch, onAck }] of batch.entries()) {
      if (error === undefined) onAck(undefined, offset + index, appendedAt)
      else onAck(error)
      this.#barrier.done(epoch)
    }
  }
}

/**
 * Returns the next partition without a request in progress, to avoid a leader that does not
 * respond. If all partitions have a request in progress, returns the next partition.
 */
function nextStickyPartition({ stickyPartition, partitions = 1, queues }: Topic): number {
  const next = (stickyPartition + 1) % partitions
  for (let tries = 0; tries < partitions; tries++) {
    const candidate = (next + tries) % partitions
    if (queues.get(candidate)?.isSending !== true) return candidate
  }
  return next
}
