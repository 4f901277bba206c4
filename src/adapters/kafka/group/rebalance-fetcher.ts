import type { Clock } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { type OwnedPartitions, seekAndPause } from './owned-partitions.ts'

/**
 * Time from the start of a join to the first fetch of `RebalanceFetcher`. Most rebalances end
 * earlier, and need no fetch.
 */
const fetchAfter = durationMs(100)

interface RebalanceFetcherDeps {
  readonly clock: Clock
  readonly owned: OwnedPartitions
  readonly fetch: (group: ConsumerGroup, nodeId: string) => Promise<readonly FetchedBatch[]>
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  /** Sends a heartbeat when one is due. */
  readonly heartbeat: (group: ConsumerGroup) => Promise<void>
}

/**
 * Fetches and delivers the owned partitions during a rebalance. kafkajs fetches nothing until the
 * join of this member ends, and the join may wait for the session timeout of a dead member.
 *
 * The fetches are safe, because no other member can get these partitions until the join ends. The
 * exception: if JoinGroup does not reach the coordinator within the rebalance timeout, the
 * coordinator removes this member. The next heartbeat then ends the session lease, and without the
 * lease no work starts on the delivered records.
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
      // The error is ignored, because the join or the first fetch after it fails with the same
      // error.
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
      // Errors are ignored: REBALANCE_IN_PROGRESS is the normal response during a rebalance. After
      // other errors, `SessionLease` does not renew the lease, so it ends and no more work starts.
      if (!isStopped()) await heartbeat(group).catch(() => undefined)
    }
  }
}
