import type { LogConsumer, LogRecord, OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type AppendDeps, createAppends } from '../partitions/append-until-stored.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createWriteDeadLetter, type WhyDeadLettered } from '../partitions/write-dead-letter.ts'

/**
 * Delays inputs of a partition until this process certainly owns the partition.
 * - `toStart`: the processing of an input may start while the group confirms this process as a
 *   member, the partition is not being revoked, and the service is not stopping.
 * - `toWrite`: an input that has started may write its records until the revocation is complete, as
 *   long as the group confirms this process.
 */
export class OwnershipGate {
  readonly #consumer: Pick<LogConsumer, 'holdsLease'>
  #isClosed = false
  #release = Promise.withResolvers<void>()

  constructor(consumer: Pick<LogConsumer, 'holdsLease'>) {
    this.#consumer = consumer
  }

  /**
   * Prevents the processing of further inputs. The records of inputs in progress may still be
   * written.
   */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Called when partitions are being revoked or were revoked, and when the group confirms this
   * process again. All callers that wait check their condition again.
   */
  release(): void {
    const { resolve } = this.#release
    this.#release = Promise.withResolvers()
    resolve()
  }

  mayStart(processor: PartitionProcessor): boolean {
    return !this.#isClosed && !processor.revoked && processor.mayStart
  }

  /**
   * Waits until the processing of an input of the partition may start. Resolves with false when the
   * partition is revoked before that, otherwise with true.
   */
  async toStart(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayStart(processor)) await this.#release.promise
    return !processor.revoked
  }

  /** Whether inputs in progress of the partition may write records now. */
  mayWrite(processor: PartitionProcessor): boolean {
    return !processor.revoked && this.#consumer.holdsLease()
  }

  /**
   * Waits until the records of inputs in progress may be written. Resolves with false when the
   * partition is revoked before that, otherwise with true.
   */
  async toWrite(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayWrite(processor)) await this.#release.promise
    return !processor.revoked
  }
}

interface Deps extends Omit<AppendDeps, 'permit'> {
  readonly gate: OwnershipGate
  /** Called when Kafka has stored a record. */
  readonly onStored: (topic: string, record: OutgoingRecord, offset: number) => void
  readonly topics: Pick<TopicNames, 'deadLetter'>
}

export interface GatedAppends {
  /**
   * Appends a record, and retries until all in-sync replicas have it. Resolves with false when the
   * partition is revoked: its next owner writes the record.
   */
  append(topic: string, record: OutgoingRecord, processor: PartitionProcessor): Promise<boolean>
  /**
   * Appends a record to the dead-letter topic, truncated when it is too large. In all other
   * respects it works as `append`.
   */
  deadLetter(record: LogRecord, why: WhyDeadLettered, processor: PartitionProcessor): Promise<boolean>
  /** Topics with a failed append that is being retried. */
  unwritableTopics(): readonly string[]
}

/**
 * Creates appends that are written only while the group confirms this process as the owner. So this
 * process never writes a state after the next owner has written one. Each try waits until the group
 * confirms the process, and the producer checks this again when it sends the record.
 */
export function createGatedAppends({ gate, onStored, producer, ...deps }: Deps): GatedAppends {
  const observed: AppendDeps['producer'] = {
    append: (topic, record, onAck) =>
      producer.append(topic, record, (error, offset) => {
        if (error === undefined && offset !== undefined) onStored(topic, record, offset)
        onAck(error, offset)
      }),
    flush: () => producer.flush(),
    stop: () => producer.stop(),
  }
  const { append, unwritableTopics } = createAppends({ ...deps, producer: observed, permit: gate })
  const writeDeadLetter = createWriteDeadLetter({ ...deps, append })
  return {
    append: (topic, record, processor) => new Promise(resolve => append(topic, record, processor, resolve)),
    deadLetter: (record, why, processor) => new Promise(resolve => writeDeadLetter(record, why, processor, resolve)),
    unwritableTopics,
  }
}
