import type { ObjectChange } from './config-objects.ts'
import { changeOfFailures } from './failure-record.ts'
import { isObjectRecord, type ObjectRecord } from './object-record.ts'

/** Maximum number of changes that `since` returns. */
const max = 1_000

/**
 * Returns the change that a record makes. `undefined` for a failure record that neither disables
 * its destination nor enables it again.
 */
function changeIn(record: ObjectRecord): ObjectChange | undefined {
  if (!isObjectRecord(record)) return changeOfFailures(record)
  const { kind, id, version, action, by, at, fields } = record
  return { kind, id, version, action, by, at, fields }
}

/** The last 1,000 changes of configuration objects. Older ones are dropped. */
export class RecentChanges {
  /**
   * The changes, in the order of the topic. Up to twice `max` changes are stored, so that `add` has
   * to copy the array only seldom.
   */
  #changes: ObjectChange[] = []

  add(record: ObjectRecord): void {
    const change = changeIn(record)
    if (change === undefined) return
    this.#changes.push(change)
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
