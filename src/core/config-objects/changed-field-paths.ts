import { isObject } from '../message/json.ts'
import { formatPath, type Path } from '../settings/settings-problem.ts'
import type { ObjectDocument } from './config-objects.ts'

/** Maximum number of fields that one change lists. */
const maxFields = 50

/**
 * Returns the sorted paths at which two documents differ; only top-level keys if more than
 * `maxFields` fields differ.
 */
export function changedFields(
  before: ObjectDocument | undefined,
  after: ObjectDocument | undefined,
): readonly string[] {
  const paths = [...differences(before ?? {}, after ?? {}, [])]
  const isLong = paths.length > maxFields
  const shown = paths.map(path => formatPath(isLong ? path.slice(0, 1) : path))
  return [...new Set(shown)].sort()
}

function* differences(a: unknown, b: unknown, path: Path): Generator<Path> {
  if (Object.is(a, b)) return
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const index of a.keys()) yield* differences(a[index], b[index], [...path, index])
    return
  }
  if (!isObject(a) || !isObject(b)) {
    yield path
    return
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [one, other] = [a, b].map(node => (Object.hasOwn(node, key) ? node[key] : undefined))
    yield* differences(one, other, [...path, key])
  }
}
