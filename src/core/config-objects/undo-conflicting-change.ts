import { changedFields } from './changed-field-paths.ts'
import { type KnownVersion, nextVersionOf } from './object-log.ts'
import type { ObjectName, ObjectRecord } from './object-record.ts'
import type { ReadObject } from './read-object.ts'

/**
 * The author of a record that undoes a change. Names of operator keys cannot begin with
 * `hookline.`.
 */
export const byUndo = 'hookline.undo'

/**
 * What an object was before a change. Both fields are `undefined` when the object had never
 * existed.
 */
export interface Before {
  readonly known: KnownVersion | undefined
  readonly current: ReadObject | undefined
}

/**
 * Returns the record that undoes `change`, which another writer's earlier change has made invalid.
 */
export function undoOf(
  change: ObjectRecord & ObjectName,
  { known, current }: Before,
  { at, writeId }: Pick<ObjectRecord, 'at' | 'writeId'>,
): ObjectRecord & ObjectName {
  const { kind, id, action, fields } = change
  const written = { kind, id, by: byUndo, version: nextVersionOf(change), at, writeId, copy: 0 }
  if (current === undefined) return { ...written, action: 'deleted', fields: [], value: undefined }
  return {
    ...written,
    action: action === 'deleted' ? 'created' : 'updated',
    fields: action === 'deleted' ? changedFields(undefined, current.document) : fields,
    value: known?.value,
    ...(kind === 'source' && { keyOffsets: current.keyOffsets.map(offset => offset ?? null) }),
  }
}
