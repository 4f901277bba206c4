import type { ObjectChange } from '../../core/config-objects/config-objects.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { Notice } from '../../core/notices/notice.ts'

/** Maximum number of changes that wait for `take`. Further changes are not reported. */
const maxChanges = 1_000

/**
 * Finds the notices that follow from changes of the configuration. Every process finds them, and
 * one process of the installation sends them.
 */
export class ConfigurationNotices {
  #changes: ObjectChange[] = []
  #routing: Routing | undefined
  #enabled: ReadonlySet<string> = new Set()

  /**
   * Notes a change of an object of the config topic. Returns false when the change is not noted,
   * because too many changes wait.
   */
  changed(change: ObjectChange): boolean {
    if (this.#changes.length >= maxChanges) return false
    this.#changes.push(change)
    return true
  }

  /**
   * Removes and returns the notices since the last call. The first call returns no notice about
   * disabled destinations: it only notes which destinations are enabled.
   */
  take(routing: Routing): readonly Notice[] {
    const changes = this.#changes
    this.#changes = []
    return [...changes.map((change): Notice => ({ kind: 'configuration_changed', change })), ...this.#disabled(routing)]
  }

  #disabled(routing: Routing): readonly Notice[] {
    if (routing === this.#routing) return []
    const enabled = this.#enabled
    const all = [...routing.destinations.values()]
    this.#routing = routing
    this.#enabled = new Set(all.filter(destination => destination.enabled).map(({ id }) => id))
    return all
      .filter(each => !each.enabled && each.disabledAutomatically === undefined && enabled.has(each.id))
      .map(({ id }) => ({ kind: 'disabled', destination: id }))
  }
}
