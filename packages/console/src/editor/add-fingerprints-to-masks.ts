import { parsePath } from '../../../../src/core/config-objects/parse-path.ts'
import { type Path, valueAt } from '../../../../src/core/settings/settings-problem.ts'
import type { ConfigObject, JsonDocument } from '../api/response-types.ts'
import { withValueAt } from './document-text.ts'

/**
 * Adds fingerprints to masked secrets in lists. With a fingerprint, the operator service finds the
 * stored secret even if entries were moved.
 */
export function addFingerprintsToMasks({
  document,
  fingerprints,
}: Pick<ConfigObject, 'document' | 'fingerprints'>): JsonDocument {
  return Object.entries(fingerprints).reduce((edited, [name, fingerprint]) => {
    const path = parsePath(name)
    const mask = valueAt(document, path)
    return typeof mask === 'string' && isOneOfSeveral(document, path)
      ? withValueAt(edited, path, `${mask} (${fingerprint})`)
      : edited
  }, document)
}

function isOneOfSeveral(document: JsonDocument, path: Path): boolean {
  const at = path.findIndex(part => typeof part === 'number')
  if (at === -1) return false
  const list = valueAt(document, path.slice(0, at))
  const id = valueAt(document, [...path.slice(0, at + 1), 'id'])
  return Array.isArray(list) && list.length > 1 && id === undefined
}
