import type { LogConsumer, LogRecord, OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type AppendDeps, createAppends } from '../partitions/appends.ts'
import { createDeadLetters, type WhyDeadLettered } from '../partitions/dead-letters.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** Holds back what may not be done now: while the group has not confirmed us, a partition is being given up, or the service ends. */
export class Gate {
  readonly #consumer: Pick<LogConsumer, 'isConfirmed'>
  #isClosed = false
  #release = Promise.withResolvers<void>()

  constructor(consumer: Pick<LogConsumer, 'isConfirmed'>) {
    this.#consumer = consumer
  }

  /** Nothing is started any more; what has been started may still be written to its end. */
  close(): void {
    this.#isClosed = true
  }

  /** Something may be different now: whoever waits looks again. */
  release(): void {
    const { resolve } = this.#release
    this.#release = Promise.withResolvers()
    resolve()
  }

  mayStart(processor: PartitionProcessor): boolean {
    return !this.#isClosed && !processor.revoked && processor.mayStart
  }

  /** Resolves when something of the partition may be started. False: it is not ours any more. */
  async toStart(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayStart(processor)) await this.#release.promise
    return !processor.revoked
  }

  /** Whether something of the partition may be written that belongs to what was started before. */
  mayWrite(processor: PartitionProcessor): boolean {
    return !processor.revoked && this.#consumer.isConfirmed()
  }

  /** Resolves when something of the partition may be written. False: it is not ours any more. */
  async toWrite(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayWrite(processor)) await this.#release.promise
    return !processor.revoked
  }
}

interface Deps extends Omit<AppendDeps, 'permit'> {
  readonly gate: Gate
  /** A record is in the log. */
  readonly onStored: (topic: string, record: OutgoingRecord, offset: number) => void
  readonly topics: Pick<TopicNames, 'deadLetter'>
}

export interface Writes {
  /**
   * Tries until all replicas have the record. Resolves with false when the partition that it is written for is not ours any more:
   * then its next owner writes it.
   */
  append(topic: string, record: OutgoingRecord, processor: PartitionProcessor): Promise<boolean>
  /** As `append`, whatever its size. */
  deadLetter(record: LogRecord, why: WhyDeadLettered, processor: PartitionProcessor): Promise<boolean>
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
}

/** A state of ours must not come after one of the next owner's: each try waits until the group has confirmed us, and it is asked once more when the record is sent. */
export function createWrites({ gate, onStored, producer, ...deps }: Deps): Writes {
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
  const writeDeadLetter = createDeadLetters({ ...deps, append })
  return {
    append: (topic, record, processor) => new Promise(resolve => append(topic, record, processor, resolve)),
    deadLetter: (record, why, processor) => new Promise(resolve => writeDeadLetter(record, why, processor, resolve)),
    unwritableTopics,
  }
}
