import type { ObjectChange } from '../../core/config-objects/config-objects.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { Notice } from '../../core/notices/notice.ts'
import type { EpochMs } from '../../core/time.ts'

/** Maximum number of changes that wait for `find`. Further changes are not reported. */
const maxChanges = 1_000

/**
 * How long, in ms, this process keeps a notice that another process should send. After a rebalance,
 * this process may have to send the notice.
 */
const keptMs = 60_000

/**
 * Finds the notices about changes of the configuration. Every process finds them, and one sends
 * them.
 */
export class ConfigurationNotices {
  #changes: ObjectChange[] = []
  #found: readonly { readonly notice: Notice; readonly at: EpochMs }[] = []
  #routing: Routing | undefined
  #enabled: ReadonlySet<string> = new Set()

  /** Notes a change of an object in the config topic. Returns false when too many changes wait. */
  changed(change: ObjectChange): boolean {
    if (this.#changes.length >= maxChanges) return false
    this.#changes.push(change)
    return true
  }

  /**
   * Makes the notices that `take` returns: one for each noted change, and one for each destination
   * that an operator disabled since the previous call of `find`.
   */
  find(routing: Routing, now: EpochMs): void {
    const changed = this.#changes.map((change): Notice => ({ kind: 'configuration_changed', change }))
    this.#changes = []
    const kept = this.#found.filter(({ at }) => Math.abs(now - at) < keptMs).slice(-maxChanges)
    this.#found = [...kept, ...[...changed, ...this.#disabled(routing, now)].map(notice => ({ notice, at: now }))]
  }

  /** Removes and returns the notices of the last minute that were not taken yet. */
  take(): readonly Notice[] {
    const found = this.#found
    this.#found = []
    return found.map(({ notice }) => notice)
  }

  #disabled(routing: Routing, at: EpochMs): readonly Notice[] {
    if (routing === this.#routing) return []
    const enabled = this.#enabled
    const all = [...routing.destinations.values()]
    this.#routing = routing
    this.#enabled = new Set(all.filter(destination => destination.enabled).map(({ id }) => id))
    return all
      .filter(each => !each.enabled && each.disabledAutomatically === undefined && enabled.has(each.id))
      .map(({ id }) => ({ kind: 'disabled', destination: id, at }))
  }
}
