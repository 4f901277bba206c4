import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Batch, ConsumerGroup } from './internals.ts'
import { type Partitions, showPositions } from './partitions.ts'

/** Most joins take less. */
const beginAfter = durationMs(100)

interface Deps {
  readonly clock: Clock
  readonly owned: Partitions
  readonly fetch: (group: ConsumerGroup, nodeId: string) => Promise<readonly Batch[]>
  readonly take: (batch: Batch) => Promise<void>
  /** A heartbeat, when one is due. */
  readonly beat: (group: ConsumerGroup) => Promise<void>
}

/**
 * Goes on fetching what is ours while a join waits for the others, up to a session time-out when one of them has died: nobody can be given
 * what we have before we have joined. kafkajs itself fetches nothing until then.
 */
export class Meanwhile {
  readonly #deps: Deps
  #round = 0
  #cancel = (): void => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  begin(group: ConsumerGroup): void {
    this.#cancel = this.#deps.clock.after(beginAfter, () => {
      const round = ++this.#round
      // What goes wrong here the join meets too, or the first fetch after it.
      void this.#run(group, () => this.#round !== round).catch(() => undefined)
    })
  }

  /** What a fetch under way still brings is left out: it comes again. */
  end(): void {
    this.#cancel()
    this.#round++
  }

  async #run(group: ConsumerGroup, isOver: () => boolean): Promise<void> {
    const { owned, fetch, take, beat } = this.#deps
    while (!isOver() && owned.all().length > 0) {
      showPositions(group, owned.all())
      const fetched = await Promise.all(group.getNodeIds().map(nodeId => fetch(group, nodeId)))
      for (const batch of fetched.flat()) if (!isOver()) await take(batch)
      // It is answered with REBALANCE_IN_PROGRESS, which is why we are here.
      if (!isOver()) await beat(group).catch(() => undefined)
    }
  }
}
