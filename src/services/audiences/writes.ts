import type { OutgoingRecord } from '../../core/ports.ts'
import { type AppendDeps, createAppends } from '../partitions/appends.ts'
import type { Shard } from '../partitions/shard.ts'
import type { Gate } from './gate.ts'

interface Deps extends AppendDeps {
  readonly gate: Gate
}

export interface Writes {
  /**
   * Tries until all replicas have the record. Resolves with false when the partition that it is written for is not ours any more:
   * then its next owner writes it.
   */
  append(topic: string, record: OutgoingRecord, shard: Shard): Promise<boolean>
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
}

/** A state of ours must not come after one of the next owner's: each try waits until the group has confirmed us, and it is asked once more when the record is sent. */
export function createWrites({ gate, ...deps }: Deps): Writes {
  const { append, unwritableTopics } = createAppends({ ...deps, permit: gate })
  return {
    append: (topic, record, shard) => new Promise(resolve => append(topic, record, shard, resolve)),
    unwritableTopics,
  }
}
