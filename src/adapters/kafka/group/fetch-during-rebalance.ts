import type { Clock } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { type OwnedPartitions, seekAndPause } from './owned-partitions.ts'

/**
 * Time from the start of a join to the first fetch. Most rebalances end earlier, without a fetch.
 */
const fetchAfter = durationMs(100)

interface RebalanceFetcherDeps {
  readonly clock: Clock
  readonly owned: OwnedPartitions
  readonly fetch: (group: ConsumerGroup, nodeId: string) => Promise<readonly FetchedBatch[]>
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  readonly heartbeat: (group: ConsumerGroup) => Promise<void>
}

/**
 * Fetches and delivers records during a rebalance. kafkajs fetches nothing until the join ends,
 * which a dead member can delay by its session timeout. Until then, no other member can get the
 * owned partitions.
 */
export class RebalanceFetcher {
  readonly #deps: RebalanceFetcherDeps
  #run = 0
  #cancel = (): void => undefined

  constructor(deps: RebalanceFetcherDeps) {
    this.#deps = deps
  }

  start(group: ConsumerGroup): void {
    this.#cancel = this.#deps.clock.after(fetchAfter, () => {
      const run = ++this.#run
      // Errors are ignored, because the join or the first fetch after it fails with the same error.
      void this.#fetchUntil(group, () => this.#run !== run).catch(() => undefined)
    })
  }

  /** Stops, and discards the fetch in progress; its records are fetched again after the join. */
  stop(): void {
    this.#cancel()
    this.#run++
  }

  async #fetchUntil(group: ConsumerGroup, isStopped: () => boolean): Promise<void> {
    const { owned, fetch, deliver, heartbeat } = this.#deps
    while (!isStopped() && owned.all().length > 0) {
      seekAndPause(group, owned.all())
      const fetched = await Promise.all(group.getNodeIds().map(nodeId => fetch(group, nodeId)))
      for (const batch of fetched.flat()) if (!isStopped()) await deliver(batch)
      // Errors are ignored: REBALANCE_IN_PROGRESS is the normal response here, and after any other
      // error, the session lease ends, so that no more work starts.
      if (!isStopped()) await heartbeat(group).catch(() => undefined)
    }
  }
}
