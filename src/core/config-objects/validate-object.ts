import { revealed, Secret } from '../secret.ts'
import { policiesWithinLimits } from '../settings/check-policies.ts'
import type { EntryContext } from '../settings/entries-as-written.ts'
import { maskUnknownKeys } from '../settings/key-and-name-hints.ts'
import type { Destination, Source } from '../settings/settings.ts'
import { maxProblems, type Path, type SettingsProblem } from '../settings/settings-problem.ts'
import { validDestination, validSource } from '../settings/valid-source-or-destination.ts'
import { draftFrom, settingsFrom } from '../settings/validate.ts'
import { id as idField } from '../settings/value-types.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'

export type ParsedObject =
  | { readonly kind: 'source'; readonly source: Source }
  | { readonly kind: 'destination'; readonly destination: Destination }

export type Validated =
  | { readonly kind: 'valid'; readonly object: ParsedObject }
  /**
   * Paths are relative to the document. Unknown keys in a path are masked, because a key may
   * contain a secret.
   */
  | { readonly kind: 'invalid'; readonly problems: readonly SettingsProblem[] }

/**
 * Checks one document, whose secrets must be in plain text. Does not check the rules about other
 * objects and the limits that `delivery` sets for `policy`: `planChange` checks these.
 */
export function validateObject(
  kind: ObjectKind,
  id: string,
  document: ObjectDocument,
  context: EntryContext,
): Validated {
  const given = { id, ...document }
  if (given.id === id) {
    const valid = kind === 'source' ? validSource(given, context) : validDestination(given, context)
    if (valid !== undefined) return { kind: 'valid', object: parsedObject(valid) }
  }
  return validateInConfiguration(kind, id, given, context)
}

/** Only a `Destination` has the key `webhooks`. */
const parsedObject = (valid: Source | Destination): ParsedObject =>
  'webhooks' in valid ? { kind: 'destination', destination: withSecretTexts(valid) } : { kind: 'source', source: valid }

/** Slower than `validSource` and `validDestination`, but finds all problems. */
function validateInConfiguration(
  kind: ObjectKind,
  id: string,
  given: ObjectDocument & { readonly id: unknown },
  context: EntryContext,
): Validated {
  const list = `${kind}s` as const
  const draft = draftFrom(configurationAround(kind, given, context))
  const named = draft.files.filter(({ path }) => path[0] === list)
  const unread = new Map(draft.files.map(({ name }) => [name, { kind: 'not_needed' }] as const))
  const result = settingsFrom({ ...draft, rules: draft.rules.filter(rule => rule !== policiesWithinLimits) }, unread)
  const problems = [
    ...(given.id === id ? [] : [otherId]),
    // Masking the keys of all problems of a large document would take a minute.
    ...named.slice(0, maxProblems).map(({ path }) => fileProblem(path.slice(2))),
    ...(result.kind === 'refused' ? result.problems.slice(0, maxProblems).map(relative) : []),
  ]
  if (problems.length > 0 || result.kind === 'refused') return { kind: 'invalid', problems }
  const { sources, destinations } = result.settings
  return { kind: 'valid', object: parsedObject(kind === 'source' ? sources[0]! : destinations[0]!) }
}

const otherId: SettingsProblem = {
  path: ['id'],
  message: 'differs from the id in the URL of the request',
  hint: 'remove the key "id"; the id of a destination or source cannot change',
}

const fileProblem = (path: Path): SettingsProblem => ({
  path: maskUnknownKeys(path),
  at: 'key',
  message: 'names a file; only objects in the configuration file can name files',
  hint: 'write the value here, not the name of a file; Hookline stores the value encrypted',
})

/** The smallest configuration in which the document is an entry. */
function configurationAround(kind: ObjectKind, document: object, context: EntryContext): object {
  const services = { kafka: { brokers: ['kafka:9092'] }, registry: { url: 'http://registry' } }
  // The document is for the config topic, which exists only with `operator.encryptionKeyFile`.
  const around = { ...context, ...services, operator: { encryptionKeyFile: 'key' } }
  if (kind === 'source') return { ...around, sources: [document] }
  const { sources } = document as { readonly sources?: unknown }
  const named = Array.isArray(sources)
    ? sources.filter((source): source is string => idField.safeParse(source).success)
    : []
  const known = [...new Set([...named, 'any'])]
  return { ...around, sources: known.map(source => ({ id: source, writeKey: source })), destinations: [document] }
}

const fileAdvice = / or "?\w+File\b"?|\b\w+File, |, \w+File$|\.? Alternatively, set `\w+File`/g

/**
 * Makes the paths relative to the document, and removes advice to name a file, because the document
 * cannot name files.
 */
function relative({ path, first, hint, ...rest }: SettingsProblem): SettingsProblem {
  const at = { ...rest, path: maskUnknownKeys(path.slice(2)) }
  const text = hint?.replace(fileAdvice, '')
  return first === undefined
    ? { ...at, hint: text ?? '' }
    : { ...at, first: maskUnknownKeys(first.slice(2)), ...(text !== undefined && { hint: text }) }
}

/**
 * Wraps the URL and the header values of each webhook in a `Secret`, because they may contain
 * credentials.
 */
const withSecretTexts = (destination: Destination): Destination => ({
  ...destination,
  webhooks: destination.webhooks.map(webhook => ({
    ...webhook,
    url: new Secret(revealed(webhook.url)),
    headers: Object.fromEntries(
      Object.entries(webhook.headers).map(([name, value]) => [name, new Secret(revealed(value))] as const),
    ),
  })),
})
