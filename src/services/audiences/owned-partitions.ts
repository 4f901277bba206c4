import { AudiencePartition } from '../../core/audience/partition.ts'
import { changeExpiry } from '../../core/audience/standing.ts'
import type { OutgoingRecord } from '../../core/ports.ts'
import type { Chore } from '../chore.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createCarryOut } from './carry-out.ts'
import { createEmissions, type Emissions } from './emissions.ts'
import type { Gate } from './gate.ts'
import { type Held, heldWith, Inputs } from './inputs.ts'
import { createLogCheck, createReadTail } from './log-tail.ts'
import { createMembershipsLog } from './memberships-log.ts'
import { createRestore } from './restore.ts'
import type { AudiencesDeps } from './service.ts'
import { createWrites, type Writes } from './writes.ts'

/** The partitions that are restored, and what works on them. */
export interface OwnedPartitions {
  readonly held: ReadonlyMap<PartitionProcessor, Held> & Pick<Map<PartitionProcessor, Held>, 'delete'>
  readonly inputs: Inputs
  readonly writes: Writes
  readonly emissions: Emissions
  /** Looks for records that others wrote to the memberships log. */
  readonly logCheck: Chore
  /** Holds a partition until its memberships are restored. */
  restoreInto(processor: PartitionProcessor): Promise<void>
}

export function createOwnedPartitions(deps: AudiencesDeps & { readonly gate: Gate }): OwnedPartitions {
  const { clock, topics, codecs, directory, stops, gate } = deps
  const held = new Map<PartitionProcessor, Held>()

  function onStored(topic: string, { partition }: OutgoingRecord, offset: number): void {
    if (topic !== topics.memberships) return
    for (const each of held.values()) {
      if (each.processor.partition !== partition) continue
      each.tail.acknowledged(offset)
      if (each.tail.hasUnread) void readTail(each)
    }
  }

  const writes = createWrites({ ...deps, onStored })
  const emissions = createEmissions(clock, deps.emitPerSecond)
  const carryOut = createCarryOut({ ...deps, ...codecs, writes, emissions })
  const inputs = new Inputs({ ...deps, codec: codecs.inputs, carryOut, writes, gate })
  const expiry = changeExpiry(deps.window)
  const log = createMembershipsLog({ ...deps, codec: codecs.memberships, topic: topics.memberships })
  const readTail = createReadTail({ ...deps, log, onFound: (records, each) => inputs.takeFound(records, each, false) })
  const restore = createRestore({
    ...deps,
    log,
    newPartition: inputEnd =>
      new AudiencePartition({ directory, expiry, inputEnd, stops: about => stops(about, clock.now()) }),
  })

  return {
    ...{ held, inputs, writes, emissions },
    logCheck: createLogCheck({ ...deps, log, readTail, held: () => held.values() }),
    async restoreInto(processor) {
      processor.pause('restore')
      const restored = await restore(processor)
      if (restored === undefined || processor.revoked) return
      const now = heldWith(processor, restored)
      held.set(processor, now)
      inputs.takeFound(restored.stale, now, true)
      processor.resume('restore')
    },
  }
}
