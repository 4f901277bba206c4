import type { DestinationFacts } from '../../core/notices/destination-facts.ts'
import { DestinationNotices } from '../../core/notices/destination-notices.ts'
import type { Notice } from '../../core/notices/notice.ts'
import type { EpochMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/**
 * The destinations whose facts this process reads. The states belong to the partitions: after
 * a revocation the next owner begins without them, and so does this process when it gets the
 * partition again.
 */
export class DestinationStates {
  readonly #byPartition = new WeakMap<PartitionProcessor, Map<string, DestinationNotices>>()

  observe(facts: DestinationFacts, processor: PartitionProcessor, now: EpochMs): DestinationNotices {
    const { destination } = facts
    const states = this.#byPartition.get(processor) ?? new Map<string, DestinationNotices>()
    this.#byPartition.set(processor, states)
    const state = states.get(destination) ?? new DestinationNotices(destination)
    states.set(destination, state)
    state.observe(facts, now)
    return state
  }

  /** Takes the facts of a partition that no notice has reported yet. */
  *takeRest(processor: PartitionProcessor): Generator<DestinationFacts> {
    for (const state of this.#byPartition.get(processor)?.values() ?? []) {
      const rest = state.takeRest()
      if (rest !== undefined) yield rest
    }
  }

  /** Takes due notices until `hasRoom` returns false. Removes the destinations that are not known. */
  *takeDue(
    processors: Iterable<PartitionProcessor>,
    { isKnown, hasRoom, now }: { isKnown: (id: string) => boolean; hasRoom: () => boolean; now: EpochMs },
  ): Generator<Notice> {
    for (const processor of processors) {
      const states = this.#byPartition.get(processor)
      for (const [destination, state] of states ?? []) {
        if (!isKnown(destination)) states?.delete(destination)
        else if (state.isWaiting && hasRoom()) yield* state.takeDue(now)
      }
    }
  }
}
