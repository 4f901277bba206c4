import type { ObjectChange } from './config-objects.ts'
import { changeOfFailures } from './failure-record.ts'
import { isObjectRecord, type ObjectRecord } from './object-record.ts'

/** How many changes are kept. */
const max = 1_000

/** A record of failures is a change only when it disables the destination, or ends that. */
function changeIn(record: ObjectRecord): ObjectChange | undefined {
  if (!isObjectRecord(record)) return changeOfFailures(record)
  const { kind, id, version, action, by, at, fields } = record
  return { kind, id, version, action, by, at, fields }
}

/** The last changes of configuration objects. It drops the oldest ones. */
export class RecentChanges {
  /** In the order of the log; at most twice `max`, so that `add` seldom moves the others. */
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
