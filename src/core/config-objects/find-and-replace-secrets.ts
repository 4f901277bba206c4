import { formatPath, type Path } from '../settings/settings-problem.ts'
import { textSettings } from '../settings/settings-that-name-files.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'

/**
 * A place where documents of one kind can have a secret. In `path`, `*` means every index or key.
 * If the value at the place is a list, each entry is a secret.
 */
interface SecretPlace {
  readonly path: readonly string[]
  /** `text`: responses mask the whole value. `url`: responses show its scheme and host. */
  readonly holds: 'text' | 'url'
}

/**
 * The places whose values are encrypted on the config topic and masked in responses. They include
 * URLs, because a URL may contain a credential.
 */
const secretPlaces: Readonly<Record<ObjectKind, readonly SecretPlace[]>> = {
  source: secretsUnder('sources.*.'),
  destination: [...secretsUnder('destinations.*.'), { path: ['webhooks', '*', 'headers', '*'], holds: 'text' }],
}

function secretsUnder(entry: string): readonly SecretPlace[] {
  return textSettings.flatMap(({ path, holds }) =>
    path.startsWith(entry) && holds !== 'certificates'
      ? [{ path: path.slice(entry.length).split('.'), holds: holds === 'url' ? 'url' : 'text' }]
      : [],
  )
}

/**
 * A value at a secret place of a document. It can have any type, because the document may be
 * invalid.
 */
export interface SecretValue {
  readonly path: Path
  readonly holds: SecretPlace['holds']
  readonly value: unknown
}

/**
 * Returns a copy of a document in which `change` replaces each secret. Absent secrets stay absent.
 */
export function withSecrets(
  kind: ObjectKind,
  document: ObjectDocument,
  change: (secret: SecretValue) => unknown,
): ObjectDocument {
  let changed: unknown = document
  for (const place of secretPlaces[kind]) changed = replaced(changed, place, [], change)
  return changed as ObjectDocument
}

/** The values at all secret places of a document, by formatted path. */
export function secretsIn(kind: ObjectKind, document: ObjectDocument): ReadonlyMap<string, SecretValue> {
  const found = new Map<string, SecretValue>()
  withSecrets(kind, document, secret => {
    found.set(formatPath(secret.path), secret)
    return secret.value
  })
  return found
}

function replaced(node: unknown, place: SecretPlace, path: Path, change: (secret: SecretValue) => unknown): unknown {
  const part = place.path[path.length]
  if (part === undefined) {
    const { holds } = place
    return Array.isArray(node)
      ? node.map((value: unknown, index) => change({ path: [...path, index], holds, value }))
      : change({ path, holds, value: node })
  }
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node))
    return part === '*' ? node.map((inner: unknown, index) => replaced(inner, place, [...path, index], change)) : node
  if (part !== '*' && !Object.hasOwn(node, part)) return node
  const inner = node as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(inner).map(([key, value]) => [
      key,
      part === '*' || key === part ? replaced(value, place, [...path, key], change) : value,
    ]),
  )
}
