import type { DestinationFacts } from '../../core/notices/destination-facts.ts'
import { DestinationNotices } from '../../core/notices/destination-notices.ts'
import type { Notice } from '../../core/notices/notice.ts'
import type { EpochMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

interface FactsContext {
  readonly processor: PartitionProcessor
  readonly urlHashes: string
  readonly now: EpochMs
}

/**
 * The notice state of each destination, made from the facts that this process reads: the events in
 * which all processes report what they have seen of a destination (`DestinationFacts`).
 */
export class DestinationNoticeStates {
  readonly #byPartition = new WeakMap<PartitionProcessor, Map<string, DestinationNotices>>()

  /**
   * Adds facts read from the partition of `processor`, and returns the state of their destination.
   * `factsId` is the message id of the facts.
   */
  observe(facts: DestinationFacts, factsId: string, { processor, urlHashes, now }: FactsContext): DestinationNotices {
    const { destination } = facts
    const states = this.#byPartition.get(processor) ?? new Map<string, DestinationNotices>()
    this.#byPartition.set(processor, states)
    const state = states.get(destination) ?? new DestinationNotices(destination)
    states.set(destination, state)
    state.setUrlHashes(urlHashes)
    state.observe(facts, factsId, now)
    return state
  }

  /**
   * Removes and returns the facts of a partition that no notice has reported yet, for the
   * partition's next owner.
   */
  *takeUnreported(processor: PartitionProcessor): Generator<DestinationFacts> {
    for (const state of this.#byPartition.get(processor)?.values() ?? []) {
      const unreported = state.takeUnreported()
      if (unreported !== undefined) yield unreported
    }
  }

  /**
   * Removes and returns due notices, until `hasRoom` returns false. Also removes the states of
   * unknown destinations.
   */
  *takeDue(
    processors: Iterable<PartitionProcessor>,
    { isKnown, hasRoom, now }: { isKnown: (id: string) => boolean; hasRoom: () => boolean; now: EpochMs },
  ): Generator<Notice> {
    for (const processor of processors) {
      const states = this.#byPartition.get(processor)
      for (const [destination, state] of states ?? []) {
        if (!isKnown(destination)) states?.delete(destination)
        else if (state.hasUnreported && hasRoom()) yield* state.takeDue(now)
      }
    }
  }
}
