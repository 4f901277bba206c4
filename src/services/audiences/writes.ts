import type { LogRecord, OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type AppendDeps, createAppends } from '../partitions/appends.ts'
import { createDeadLetters, type WhyDeadLettered } from '../partitions/dead-letters.ts'
import type { Shard } from '../partitions/shard.ts'
import type { Gate } from './gate.ts'

interface Deps extends AppendDeps {
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
  append(topic: string, record: OutgoingRecord, shard: Shard): Promise<boolean>
  /** As `append`, whatever its size. */
  deadLetter(record: LogRecord, why: WhyDeadLettered, shard: Shard): Promise<boolean>
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
    append: (topic, record, shard) => new Promise(resolve => append(topic, record, shard, resolve)),
    deadLetter: (record, why, shard) => new Promise(resolve => writeDeadLetter(record, why, shard, resolve)),
    unwritableTopics,
  }
}
