import { isObject } from '../message/json.ts'
import { Secret } from '../secret.ts'
import { destination, source } from '../settings/schema-of-source-and-destination.ts'
import { formatPath, type Path, valueAt } from '../settings/settings-problem.ts'
import type { ConfigObject, ObjectDocument, ObjectKind } from './config-objects.ts'
import { secretsIn, withSecrets } from './find-and-replace-secrets.ts'
import { maskDocument, maskIn } from './mask.ts'

/**
 * A field that differs between two documents. A secret is shown as a mask with its fingerprint:
 * `*** (5e884898)`.
 */
export interface FieldChange {
  readonly path: Path
  readonly before: unknown
  readonly after: unknown
}

/** A document as the operator API shows it. */
export type MaskedObject = Pick<ConfigObject, 'document' | 'fingerprints'>

const schemas = { destination, source } as const

/**
 * The fields in which `wanted` differs from `stored`. A plain secret of less than 16 characters has
 * no fingerprint, so it always counts as changed.
 */
export function fieldChanges(kind: ObjectKind, stored: MaskedObject, wanted: ObjectDocument): readonly FieldChange[] {
  const own = maskDocument(kind, wanted)
  const parsed = [stored.document, own.document].map(document => schemas[kind].safeParse(document))
  // A document of a later version of Hookline may have unknown keys. The documents are then
  // compared unparsed.
  const isKnown = parsed.every(({ success }) => success)
  const [before, after] = isKnown ? parsed.map(({ data }) => toPlainJson(data)) : [stored.document, own.document]
  const secretsByPath = secretsIn(kind, wanted)
  const storedText = ({ path, value }: { path: Path; value: unknown }): unknown =>
    withFingerprint(value, fingerprintAt(stored, path))
  const wantedText = ({ path, value }: { path: Path; value: unknown }): unknown => {
    const given = secretsByPath.get(formatPath(path)) ?? secretsByPath.get(formatPath([...path, 0]))
    const mask = given && maskIn(given)
    if (mask !== undefined) return withFingerprint(value, mask.fingerprint ?? fingerprintAt(stored, path))
    const fingerprint = fingerprintAt(own, path)
    const isShort = fingerprint === undefined && given?.value !== value
    return isShort
      ? `${String(value)} (fewer than 16 characters, so no fingerprint is shown)`
      : withFingerprint(value, fingerprint)
  }
  const changes = differences(
    withSecrets(kind, unwrapSingleSecrets(kind, before as ObjectDocument), storedText),
    withSecrets(kind, unwrapSingleSecrets(kind, after as ObjectDocument), wantedText),
    [],
  )
  // The schema converts a duration to milliseconds. A change shows it as it is written, for example
  // `3s`.
  const written = (document: ObjectDocument, path: Path, value: unknown): unknown =>
    typeof value === 'number' ? (valueAt(document, path) ?? value) : value
  return [...changes].map(({ path, ...change }) => ({
    path,
    before: written(stored.document, path, change.before),
    after: written(wanted, path, change.after),
  }))
}

/** Returns the top-level fields of a new object as changes. */
export function fieldsOf(kind: ObjectKind, wanted: ObjectDocument): readonly FieldChange[] {
  const { id: _id, ...document } = maskDocument(kind, wanted).document
  return Object.entries(document).map(([key, after]) => ({ path: [key], before: undefined, after }))
}

const withFingerprint = (shown: unknown, fingerprint: string | undefined): unknown =>
  fingerprint === undefined ? shown : `${String(shown)} (${fingerprint})`

/**
 * Returns the fingerprint of the secret at a path. If a destination has one shared secret,
 * `sharedSecret` and `sharedSecret[0]` are paths of the same secret.
 */
const fingerprintAt = ({ fingerprints }: MaskedObject, path: Path): string | undefined =>
  fingerprints[formatPath(path)] ?? fingerprints[formatPath([...path, 0])]

/** Replaces each list with exactly one secret by that secret, because both mean the same. */
function unwrapSingleSecrets(kind: ObjectKind, document: ObjectDocument): ObjectDocument {
  const secrets = secretsIn(kind, document)
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      Array.isArray(value) && value.length === 1 && secrets.has(formatPath([key, 0])) ? value[0] : value,
    ]),
  )
}

/**
 * Converts a parsed value to plain JSON. The schema has wrapped secret texts in `Secret`. Replaces
 * each `Secret` by its text.
 */
function toPlainJson(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(toPlainJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlainJson(inner)]))
}

function* differences(before: unknown, after: unknown, path: Path): Generator<FieldChange> {
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differences(before[key], after[key], [...path, key])
  } else if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].some(isObject)) {
    for (let index = 0; index < Math.max(before.length, after.length); index++)
      yield* differences(before[index], after[index], [...path, index])
  } else if (!isSame(before, after)) yield { path, before, after }
}

const isSame = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) && Array.isArray(after)
    ? before.length === after.length && before.every((each, index) => isSame(each, after[index]))
    : Object.is(before, after)
