import type { Clock } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { type OwnedPartitions, seekAndPause } from './owned-partitions.ts'

/** Time from the start of a join to the first fetch. Most rebalances end earlier. */
const fetchAfter = durationMs(100)

interface RebalanceFetcherDeps {
  readonly clock: Clock
  readonly owned: OwnedPartitions
  readonly fetch: (group: ConsumerGroup, nodeId: string) => Promise<readonly FetchedBatch[]>
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  readonly heartbeat: (group: ConsumerGroup) => Promise<void>
}

/**
 * Fetches and delivers the owned partitions during a rebalance. kafkajs fetches nothing until the
 * join ends, which may take the session timeout of a dead member. No other member can get these
 * partitions until the join ends. If the coordinator has removed this member, the next heartbeat
 * ends the session lease, and no more work starts.
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
      // The join, or the first fetch after it, fails with the same error.
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
      // REBALANCE_IN_PROGRESS is the normal response here. After any other error, the session lease
      // ends, so that no more work starts.
      if (!isStopped()) await heartbeat(group).catch(() => undefined)
    }
  }
}
