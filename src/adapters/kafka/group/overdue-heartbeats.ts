import type { Cancel, Clock } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import type { SessionLease } from './session-lease.ts'

const checkEvery = durationMs(500)
/** Age of the last confirmed heartbeat at which the next one is overdue. The interval is 500 ms. */
const overdueAfterMs = 1_500
/**
 * Maximum time since the last fetch for which overdue heartbeats are sent. It is three times the
 * request timeout. A member that has not fetched for longer sends none, so it loses its partitions.
 */
const maxFetchAgeMs = 30_000

interface Deps {
  readonly clock: Clock
  readonly lease: SessionLease
  /** The group; `undefined` while this member owns no partitions. */
  readonly group: () => ConsumerGroup | undefined
}

/**
 * Sends the heartbeats that are overdue. Normally, heartbeats are sent between fetches. But all
 * fetches can wait, for example for metadata from a broker that does not respond. Without these
 * heartbeats, the coordinator would remove the member after 6 s.
 */
export class OverdueHeartbeats {
  readonly #deps: Deps
  #cancel: Cancel | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Notes that the member fetches. The first call starts the checks. */
  noteFetch(): void {
    this.#fetchedAt = this.#deps.clock.boottime()
    if (this.#cancel === undefined) this.#checkLater()
  }

  stop(): void {
    this.#cancel?.()
    // Keeps `noteFetch` from starting the checks again.
    this.#cancel = () => undefined
  }

  #checkLater(): void {
    this.#cancel = this.#deps.clock.after(checkEvery, () => {
      this.#checkLater()
      this.#check()
    })
  }

  #check(): void {
    const { clock, lease } = this.#deps
    const group = this.#deps.group()
    const isFetching = clock.boottime() - this.#fetchedAt < maxFetchAgeMs
    // The error is ignored: after the next fetch, `GroupMembership.heartbeat` gets the same error.
    if (group !== undefined && isFetching && lease.ageMs >= overdueAfterMs)
      void lease.heartbeat(group).catch(() => undefined)
  }
}
