import { checkAgainstSchema, type Substituted } from '../settings/check-against-schema.ts'
import { authorizationGivenOnce, usableSigningKeys } from '../settings/check-auth-and-signing.ts'
import { clientCertificate, usableCertificates } from '../settings/check-certificates.ts'
import { comparableValues } from '../settings/check-filter-values.ts'
import { readableFiles } from '../settings/check-named-files.ts'
import { secretsGivenOnce } from '../settings/check-secrets-given-once-and-in-pairs.ts'
import { uniqueNames, uniqueWebhookLabels } from '../settings/check-unique-and-known-names.ts'
import { uniqueWriteKeys } from '../settings/check-unique-write-and-operator-keys.ts'
import { allowedHeaders, uniqueUrls } from '../settings/check-urls-and-headers.ts'
import {
  type FileContents,
  type NamedFile,
  namedFiles,
  secretFrom,
} from '../settings/named-files-and-content-problems.ts'
import { formatPath, type Path, type SettingsProblem, valueAt } from '../settings/settings-problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { secretsIn } from './find-and-replace-secrets.ts'
import { maskIn } from './mask.ts'

/** The top-level key of the configuration file under which objects of a kind are listed. */
export const configurationKeyOf = {
  destination: 'destinations',
  source: 'sources',
} as const satisfies Record<ObjectKind, string>

/**
 * The result of `checkObjectFiles`. `files` are the files to which the objects refer, for example
 * in `sharedSecretFile`.
 */
export interface ObjectsDraft {
  readonly files: readonly NamedFile[]
  /**
   * Checks the rules that the schema cannot express, and replaces the names of files by their
   * `contents`.
   */
  complete(contents: FileContents): CheckedObjects
}

export type CheckedObjects =
  /** The documents name no file. Their secrets are in plain text or masked. */
  | { readonly kind: 'accepted'; readonly documents: readonly ObjectDocument[] }
  /** The path of each problem begins with `destinations` or `sources` and an index. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }

/**
 * Checks the objects of one kind, except for rules that depend on other objects or on network
 * settings. Only the operator service checks these rules.
 */
export function checkObjectFiles(kind: ObjectKind, values: readonly unknown[], substituted: Substituted): ObjectsDraft {
  const list = configurationKeyOf[kind]
  const input = { [list]: values }
  const { wellFormed, problems } = checkAgainstSchema(input, substituted)
  // The input is not a whole configuration, so problems outside the list of objects are ignored.
  const own = ({ path }: SettingsProblem): boolean => path[0] === list && path.length > 1
  // A file may lack a write key or have masked secrets, because the operator service keeps the
  // stored values.
  const masked = new Map(
    values.flatMap((value, index) =>
      [...secretsIn(kind, value as ObjectDocument).values()]
        .filter(secret => maskIn(secret) !== undefined)
        .map(({ path, value: text }) => [formatPath([list, index, ...path]), { path: [list, index, ...path], text }]),
    ),
  )
  const canJudge = ({ path, message }: SettingsProblem): boolean =>
    !(path.at(-1) === 'writeKey' && message === 'is missing') && !masked.has(formatPath(path))
  const files = namedFiles(wellFormed)
  return {
    files,
    complete(contents) {
      const rules = [
        uniqueNames,
        uniqueWebhookLabels,
        readableFiles,
        secretsGivenOnce(input),
        uniqueUrls,
        uniqueWriteKeys,
        allowedHeaders,
        usableCertificates,
        clientCertificate,
        usableSigningKeys,
        authorizationGivenOnce,
        comparableValues,
      ]
      const all = [...problems.filter(own), ...rules.flatMap(rule => rule(wellFormed, contents))].filter(canJudge)
      if (all.length > 0) return { kind: 'refused', problems: all }
      const complete = structuredClone(wellFormed) as Readonly<Record<string, readonly ObjectDocument[]>>
      for (const { path, name } of files) placeContent(complete, path, secretFrom(name, contents)!)
      // The check against the schema has removed masks that are not valid values. Here, the
      // document gets them again.
      for (const { path, text } of masked.values()) set(complete, path, text)
      return { kind: 'accepted', documents: complete[list] ?? [] }
    },
  }
}

/**
 * Replaces a file name by the file's content: `{ file: NAME }` becomes the content, and
 * `sharedSecretFile` becomes `sharedSecret`.
 */
function placeContent(root: unknown, path: Path, content: string): void {
  const index = typeof path.at(-1) === 'number' ? path.at(-1) : undefined
  const at = index === undefined ? path : path.slice(0, -1)
  const [parent, key] = [at.slice(0, -1), at.at(-1)!]
  if (key === 'file') return set(root, parent, content)
  const whole = [...parent, String(key).replace(/File$/, '')]
  const before = valueAt(root, whole)
  set(root, whole, index === undefined ? content : [...(Array.isArray(before) ? before : []), content])
  delete (valueAt(root, parent) as Record<string | number, unknown>)[key]
}

function set(root: unknown, path: Path, value: unknown): void {
  ;(valueAt(root, path.slice(0, -1)) as Record<string | number, unknown>)[path.at(-1)!] = value
}
