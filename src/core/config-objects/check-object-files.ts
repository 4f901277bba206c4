import { mask } from '../secret.ts'
import { checkAgainstSchema, type Substituted } from '../settings/check-against-schema.ts'
import { authorizationGivenOnce, usableSigningKeys } from '../settings/check-auth.ts'
import { clientCertificate, usableCertificates } from '../settings/check-certificates.ts'
import { comparableValues } from '../settings/check-filter.ts'
import { uniqueNames, uniqueWebhookLabels } from '../settings/check-names.ts'
import { readableFiles, secretsGivenOnce, uniqueWriteKeys } from '../settings/check-secrets.ts'
import { allowedHeaders, uniqueUrls } from '../settings/check-targets.ts'
import { type FileContents, type NamedFile, namedFiles, secretFrom } from '../settings/named-files.ts'
import { type Path, type SettingsProblem, valueAt } from '../settings/problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'

/** The key of the configuration that has the objects of a kind. */
export const listOf = { destination: 'destinations', source: 'sources' } as const satisfies Record<ObjectKind, string>

/** Objects as read from files, checked against the schema, and the files that they name. */
export interface ObjectsDraft {
  readonly files: readonly NamedFile[]
  /** The second step: checks the rules, and replaces the names of files by their contents. */
  complete(contents: FileContents): CheckedObjects
}

export type CheckedObjects =
  /** The documents have the secrets in plain text, and name no file. */
  | { readonly kind: 'accepted'; readonly documents: readonly ObjectDocument[] }
  /** Paths begin with `destinations` or `sources` and an index. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }

/**
 * Checks objects of files before they are applied, as far as this is possible without the other
 * objects and the network settings of the services. The operator service repeats these checks and
 * makes the others.
 */
export function checkObjects(kind: ObjectKind, values: readonly unknown[], substituted: Substituted): ObjectsDraft {
  const list = listOf[kind]
  const input = { [list]: values }
  const { wellFormed, problems } = checkAgainstSchema(input, substituted)
  // The rest of the configuration is missing here.
  const own = ({ path }: SettingsProblem): boolean => path[0] === list && path.length > 1
  // A file may leave out or mask the write key of a source, and mask URLs: the operator service has
  // them. It reports a key that is missing there too.
  const isKnown = ({ path, message }: SettingsProblem): boolean =>
    !(path.at(-1) === 'writeKey' && message === 'is missing') && !String(valueAt(wellFormed, path)).endsWith(mask)
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
      const all = [...problems.filter(own), ...rules.flatMap(rule => rule(wellFormed, contents)).filter(isKnown)]
      if (all.length > 0) return { kind: 'refused', problems: all }
      const complete = structuredClone(wellFormed) as Readonly<Record<string, readonly ObjectDocument[]>>
      for (const { path, name } of files) placeContent(complete, path, secretFrom(name, contents)!)
      return { kind: 'accepted', documents: complete[list] ?? [] }
    },
  }
}

/**
 * Replaces `sharedSecretFile` by `sharedSecret` with the content of the file, and `{ file: NAME }` by
 * the content.
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
