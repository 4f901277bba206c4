import type { ObjectChange } from './config-objects.ts'
import type { ObjectRecord } from './object-record.ts'

/** How many changes are kept. */
const max = 1_000

/** The last changes of configuration objects. It drops the oldest ones. */
export class RecentChanges {
  /** In the order of the log; at most twice `max`, so that `add` seldom moves the others. */
  #changes: ObjectChange[] = []

  add({ kind, id, version, action, by, at, fields }: ObjectRecord): void {
    this.#changes.push({ kind, id, version, action, by, at, fields })
    if (this.#changes.length >= 2 * max) this.#changes = this.#changes.slice(-max)
  }

  /** The last changes that were made at this time or later, newest first. */
  since(since = Number.NEGATIVE_INFINITY): readonly ObjectChange[] {
    return this.#changes
      .slice(-max)
      .filter(({ at }) => at >= since)
      .reverse()
  }
}
