import type { ConfigObject, ObjectDocument, ObjectKind } from './config-objects.ts'
import { maskIn } from './mask.ts'
import { type FieldChange, fieldChanges, fieldsOf } from './masked-field-changes.ts'

/** An object as a file describes it, with its secrets in plain text or masked. */
export interface WantedObject {
  readonly id: string
  readonly document: ObjectDocument
}

/** An object as the operator API shows it. */
export type ExistingObject = Pick<ConfigObject, 'id' | 'origin' | 'version' | 'document' | 'fingerprints'>

interface CreateStep {
  readonly kind: 'create'
  readonly id: string
  readonly document: ObjectDocument
  readonly changes: readonly FieldChange[]
}

interface ReplaceStep {
  readonly kind: 'replace'
  readonly id: string
  readonly document: ObjectDocument
  /** The version that the existing object must have for the change to apply. */
  readonly expectedVersion: number
  readonly changes: readonly FieldChange[]
}

interface DeleteStep {
  readonly kind: 'delete'
  readonly id: string
  readonly expectedVersion: number
}

export type ChangeStep = CreateStep | ReplaceStep | DeleteStep

/** What happens to one object when the files are applied. */
export type Step =
  | ChangeStep
  | { readonly kind: 'unchanged'; readonly id: string }
  /** The object is defined in the configuration file of the services, which has precedence. */
  | { readonly kind: 'defined_in_file'; readonly id: string }

interface Given {
  readonly kind: ObjectKind
  readonly wanted: readonly WantedObject[]
  readonly existing: readonly ExistingObject[]
  /**
   * Whether existing objects that no file describes are deleted. Objects of the configuration file
   * (`origin: file`) are never deleted.
   */
  readonly prune: boolean
}

/**
 * Returns the steps that make the existing objects equal to the wanted ones. The ids of the wanted
 * objects must be distinct.
 */
export function applyPlanOf({ kind, wanted, existing, prune }: Given): readonly Step[] {
  const byId = new Map(existing.map(each => [each.id, each]))
  const wantedIds = new Set(wanted.map(({ id }) => id))
  const surplus = prune ? existing.filter(({ id, origin }) => origin === 'api' && !wantedIds.has(id)) : []
  return [
    ...wanted.map(each => stepFor(kind, each, byId.get(each.id))),
    ...surplus.map(({ id, version }): Step => ({ kind: 'delete', id, expectedVersion: version })),
  ]
}

function stepFor(kind: ObjectKind, { id, document }: WantedObject, found: ExistingObject | undefined): Step {
  if (found === undefined) return { kind: 'create', id, document, changes: fieldsOf(kind, document) }
  if (found.origin === 'file') return { kind: 'defined_in_file', id }
  const complete = withKeptFields(kind, document, found.document)
  const changes = fieldChanges(kind, found, complete)
  if (changes.length === 0) return { kind: 'unchanged', id }
  return { kind: 'replace', id, document: complete, expectedVersion: found.version, changes }
}

/**
 * Fields that keep their stored value when a file lacks them: applying a file must not undo `pause`
 * or `rotate-secret`.
 */
const keptFields = {
  destination: ['enabled', 'paused', 'sharedSecret'],
  source: ['writeKey'],
} as const satisfies Record<ObjectKind, readonly string[]>

function withKeptFields(kind: ObjectKind, wanted: ObjectDocument, stored: ObjectDocument): ObjectDocument {
  const absent = keptFields[kind].filter(key => wanted[key] === undefined)
  // The stored `secretRotatesAt` is kept, because the file may have the time of an earlier
  // rotation.
  const kept = kind === 'destination' && keepsSecrets(wanted, stored) ? [...absent, 'secretRotatesAt'] : absent
  const values = kept.flatMap(key => (stored[key] === undefined ? [] : [[key, stored[key]] as const]))
  return { ...wanted, ...Object.fromEntries(values) }
}

/**
 * Whether a destination keeps all its stored shared secrets: the file has none, or a mask for each
 * of them.
 */
function keepsSecrets({ sharedSecret }: ObjectDocument, stored: ObjectDocument): boolean {
  if (sharedSecret === undefined) return true
  const masks = [sharedSecret].flat()
  const areMasks = masks.every(value => maskIn({ holds: 'text', value }) !== undefined)
  return areMasks && masks.length === [stored['sharedSecret'] ?? []].flat().length
}
