import type { ObjectChange, RecentChangeList } from './config-objects.ts'
import { changeOfFailures } from './destination-failure-record.ts'
import { isObjectRecord, type ObjectRecord } from './object-record.ts'

/** Maximum number of changes that `since` returns. */
const max = 1_000

/** Whether a record changes no field, as the records of an encryption key rotation do. */
export const changesNothing = ({ action, fields }: Pick<ObjectChange, 'action' | 'fields'>): boolean =>
  action === 'updated' && fields.length === 0

/**
 * Returns the change that a record makes; `undefined` if no field changes. So the records of an
 * encryption key rotation do not displace operators' changes from the list.
 */
function changeIn(record: ObjectRecord): ObjectChange | undefined {
  if (!isObjectRecord(record)) return changeOfFailures(record)
  const { kind, id, version, action, by, at, fields } = record
  if (changesNothing(record)) return undefined
  return { kind, id, version, action, by, at, fields }
}

/** The last 1,000 changes of configuration objects. */
export class RecentChanges {
  /** In topic order. Holds up to twice `max` changes, so that `add` rarely copies the array. */
  #changes: ObjectChange[] = []
  /** The latest time of the changes that were removed from `#changes`. */
  #lastDroppedAt: number | undefined

  add(record: ObjectRecord): void {
    const change = changeIn(record)
    if (change === undefined) return
    this.#changes.push(change)
    if (this.#changes.length < 2 * max) return
    const dropped = this.#changes.slice(0, -max)
    this.#changes = this.#changes.slice(-max)
    this.#lastDroppedAt = Math.max(...dropped.map(({ at }) => at), this.#lastDroppedAt ?? Number.NEGATIVE_INFINITY)
  }

  /** Returns the last `max` changes that were made at the time `since` or later, newest first. */
  since(since = Number.NEGATIVE_INFINITY): RecentChangeList {
    const found = this.#changes.filter(({ at }) => at >= since)
    return {
      changes: found.slice(-max).reverse(),
      isPartial: found.length > max || (this.#lastDroppedAt !== undefined && this.#lastDroppedAt >= since),
    }
  }
}
