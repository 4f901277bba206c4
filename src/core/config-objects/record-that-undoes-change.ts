import type { SettingsProblem } from '../settings/settings-problem.ts'
import { changedFields } from './changed-field-paths.ts'
import { type AllObjects, brokenReferences, usesOf } from './check-object-references.ts'
import type { ObjectDocument } from './config-objects.ts'
import type { ObjectName, ObjectRecord } from './object-record.ts'
import { type KnownVersion, nextVersionOf } from './objects-from-topic.ts'
import { type ReadObject, writeKeysIn } from './read-object.ts'

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

interface UndoOptions extends Pick<ObjectRecord, 'at' | 'writeId'> {
  /**
   * The document after the change. If the change removed a write key, the undo's record counts as
   * the one that added the key. So another source that added the key between the change and the
   * undo keeps it.
   */
  readonly changed?: ObjectDocument | undefined
}

/**
 * Returns the record that undoes `change`, which another writer's earlier change has made invalid.
 */
export function undoOf(
  change: ObjectRecord & ObjectName,
  { known, current }: Before,
  { at, writeId, changed = {} }: UndoOptions,
): ObjectRecord & ObjectName {
  const { kind, id, action, fields } = change
  const written = { kind, id, by: byUndo, version: nextVersionOf(change), at, writeId, copy: 0 }
  if (current === undefined) return { ...written, action: 'deleted', fields: [], value: undefined }
  return {
    ...written,
    action: action === 'deleted' ? 'created' : 'updated',
    fields: action === 'deleted' ? changedFields(undefined, current.document) : fields,
    value: known?.value,
    createdAt: known?.createdAt,
    ...(kind === 'source' && { keyOffsets: keyOffsetsOf(current, changed) }),
  }
}

function keyOffsetsOf({ document, keyOffsets }: ReadObject, changed: ObjectDocument): ObjectRecord['keyOffsets'] {
  const kept = writeKeysIn(changed)
  return writeKeysIn(document).map((key, index) => (kept.includes(key) ? (keyOffsets[index] ?? null) : null))
}

/**
 * Returns a problem for each reference that an undo would make invalid. Destinations in files do
 * not count as uses of a source, because Hookline uses these destinations even without the source.
 */
export function problemsOfUndo(
  { kind, id }: ObjectName,
  { current }: Pick<Before, 'current'>,
  all: AllObjects,
  changed: ObjectDocument | undefined,
): readonly SettingsProblem[] {
  if (current !== undefined) return brokenReferences(current.parsed, current.document, all, changed)
  return kind === 'source' ? usesOf({ kind, id }, { ...all, file: { ...all.file, destinations: [] } }) : []
}
