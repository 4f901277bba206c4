import type { Cancel, Clock } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import type { SessionLease } from './session-lease.ts'

const checkEvery = durationMs(500)
/**
 * Age of the last confirmed heartbeat at which the next one is overdue. Heartbeats are sent every
 * 500 ms.
 */
const overdueAfterMs = 1_500
/**
 * Overdue heartbeats are sent only for this time after the last fetch: three times the request
 * timeout. A member that does not fetch for longer loses its partitions.
 */
const maxFetchAgeMs = 30_000

interface Deps {
  readonly clock: Clock
  readonly lease: SessionLease
  /** The group; `undefined` while this member owns no partitions. */
  readonly group: () => ConsumerGroup | undefined
}

/**
 * Sends heartbeats while all fetches wait, for example for an unresponsive broker. The coordinator
 * would otherwise remove the member after 6 s.
 */
export class OverdueHeartbeats {
  readonly #deps: Deps
  #cancel: Cancel | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Notes a fetch. The first call starts the checks. */
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
    // The error is ignored, because `GroupMembership.heartbeat` gets it again after the next fetch.
    if (group !== undefined && isFetching && lease.ageMs >= overdueAfterMs)
      void lease.heartbeat(group).catch(() => undefined)
  }
}
