import type { ConfigObjects, ObjectDocument } from '../../core/config-objects/config-objects.ts'
import { maskDocument } from '../../core/config-objects/mask.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import { expectedBy } from '../../core/operator/etag-precondition.ts'
import { maxWriteKeys } from '../../core/operator/max-write-keys.ts'
import { mergePatch } from '../../core/operator/merge-patch.ts'
import { responseTo } from '../../core/operator/object-change-response.ts'
import {
  definedInFile,
  invalidObject,
  notFound,
  type ObjectRefusal,
  objectRefusal,
  preconditionRequired,
} from '../../core/operator/object-refusal.ts'
import type { ObjectChanged, ObjectsApi, ObjectTarget, Rotated } from '../../core/operator/objects-api.ts'
import { pageOf } from '../../core/operator/query-parameters-and-object-page.ts'
import {
  type KeyRotation,
  rotateKey,
  rotateSecret,
  type SecretRotation,
} from '../../core/operator/rotate-secret-or-key.ts'
import type { Clock } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'
import { absentIsNotFound, createSwitchObject } from './pause-resume-or-disable-object.ts'

export interface ManageObjectsDeps {
  readonly objects: ConfigObjects
  readonly clock: Clock
  readonly randomBytes: (count: number) => Buffer
}

type Changes = Pick<
  ObjectsApi,
  'list' | 'get' | 'replace' | 'patch' | 'delete' | 'switch' | 'rotateSecret' | 'rotateKey' | 'changes'
>
/**
 * Returns the new document of an object from the current one; `undefined` deletes the object, or
 * leaves it absent.
 */
type Next = (current: ObjectDocument | undefined) => ObjectDocument | undefined

const secretBytes = 32

/** The operations of the operator API on destinations and sources. */
export function createManageObjects({ objects, clock, randomBytes }: ManageObjectsDeps): Changes {
  async function change({ kind, id, by, precondition, dryRun = false }: ObjectTarget, next: Next) {
    const outcome = await objects.change({ kind, id, by, expected: expectedBy(precondition), next, dryRun })
    return responseTo(outcome, precondition)
  }

  /**
   * Makes a change. To change an existing object, the request must have a precondition (the
   * expected version).
   */
  async function guarded(target: ObjectTarget, next: Next): Promise<ObjectChanged | ObjectRefusal> {
    if (target.precondition.kind !== 'none') return change(target, next)
    const found = objects.get(target.kind, target.id)
    if (found?.origin === 'file') return definedInFile
    if (found !== undefined) return preconditionRequired(found)
    const answer = await change({ ...target, precondition: { kind: 'absent' } }, next)
    // Whether another request has created the object after the look-up above.
    const created = answer.kind === 'refused' && answer.code === 'precondition_failed'
    return created ? preconditionRequired({ version: answer.version ?? 0 }) : answer
  }

  async function replace(target: ObjectTarget, document: JsonObject) {
    const { id, precondition } = target
    const wrong = refuseId(document, id)
    if (wrong !== undefined) return wrong
    const mayCreate = precondition.kind !== 'exists'
    const answer = await guarded(target, current =>
      current === undefined && !mayCreate ? undefined : { ...document, id },
    )
    // If-Match is false for an absent object (RFC 9110, section 13.1.1).
    return answer === notFound
      ? objectRefusal(
          'precondition_failed',
          'There is no object with this id: to create it, send the header "If-None-Match: *".',
        )
      : answer
  }

  async function patch(target: ObjectTarget, changes: JsonObject) {
    const wrong = refuseId(changes, target.id)
    if (wrong !== undefined) return wrong
    // The patched document has masks (***) for unchanged secrets. `objects.change` replaces the
    // masks with the current secrets.
    const masked = (current: ObjectDocument) => maskDocument(target.kind, current).document
    return absentIsNotFound(await guarded(target, current => current && mergePatch(masked(current), changes)))
  }

  async function rotateSharedSecret(target: ObjectTarget, overlap: DurationMs): Promise<Rotated | ObjectRefusal> {
    // Libraries for Standard Webhooks expect the prefix `whsec_`. X-Signature uses the whole text
    // as the key.
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`
    const now = clock.now()
    let rotation: SecretRotation | undefined
    const answer = await change(target, current => {
      rotation = current && rotateSecret(current, { secret, now, overlap })
      return rotation?.kind === 'rotated' ? rotation.document : current
    })
    if (answer.kind === 'refused') return withUndoHint(absentIsNotFound(answer) as ObjectRefusal)
    if (rotation?.kind !== 'rotated') return rotationInProgress(rotation)
    return { ...answer, secret, until: rotation.until }
  }

  async function rotateWriteKey(target: ObjectTarget, keep: number | undefined): Promise<Rotated | ObjectRefusal> {
    const key = randomBytes(secretBytes).toString('base64url')
    let rotation: KeyRotation | undefined
    const answer = await change(target, current => {
      rotation = current && rotateKey(current, { key, keep })
      return rotation?.kind === 'rotated' ? rotation.document : current
    })
    if (answer.kind === 'refused') return absentIsNotFound(answer) as ObjectRefusal
    if (rotation?.kind !== 'rotated') return tooManyKeys
    return { ...answer, secret: key, keys: rotation.keys }
  }

  return {
    list: (kind, query) => pageOf(objects.list(kind), query),
    get: (kind, id) => objects.get(kind, id) ?? notFound,
    replace,
    patch,
    delete: async target => deleted(await guarded(target, () => undefined)),
    switch: createSwitchObject({ objects, change }),
    rotateSecret: rotateSharedSecret,
    rotateKey: rotateWriteKey,
    changes: since => objects.changes(since),
  }
}

/**
 * Replaces refusals of a request that deletes an object. Here, `invalid_object` means that other
 * objects or settings use the object.
 */
const deleted = (answer: ObjectChanged | ObjectRefusal): ObjectChanged | ObjectRefusal =>
  answer.kind === 'refused' && answer.code === 'invalid_object'
    ? objectRefusal(
        'in_use',
        'The object was not deleted, because another object or a setting uses it: see "problems".',
        { problems: answer.problems },
      )
    : absentIsNotFound(answer)

/**
 * Refuses a document whose id differs from the id in the path. A document without an id is
 * accepted.
 */
function refuseId(document: JsonObject, id: string): ObjectRefusal | undefined {
  if (!Object.hasOwn(document, 'id') || document['id'] === id) return undefined
  return invalidObject([
    { path: ['id'], message: 'is not the id in the path', hint: 'leave it out, or use the id in the path' },
  ])
}

/** How to undo a rotation whose response was lost. Nobody then has the new secret. */
const undoHint =
  'remove the new secret: send a PATCH with "secretRotatesAt": null and "sharedSecret": "*** (<fingerprint>)". <fingerprint> is the value of "sharedSecret[0]" in "fingerprints" of the object. Then rotate the secret again.'

const withUndoHint = (refusal: ObjectRefusal): ObjectRefusal =>
  refusal.code === 'unavailable'
    ? {
        ...refusal,
        message: `${refusal.message} This response has no new secret. If the destination now has two shared secrets, ${undoHint}`,
      }
    : refusal

const rotationInProgress = (rotation: Extract<SecretRotation, { kind: 'in_progress' }> | undefined): ObjectRefusal => {
  const until = rotation?.until
  const state =
    until === undefined
      ? 'already has two shared secrets: '
      : `is rotating its secret until ${toIsoTimestamp(until)}: wait until then, `
  const lost =
    until === undefined
      ? ''
      : ` If nobody has the new secret, because the response to the rotation was lost, ${undoHint}`
  return objectRefusal(
    'rotation_in_progress',
    `The destination ${state}remove one secret, or send "overlap": "0s" to replace both now.${lost}`,
  )
}

const tooManyKeys = objectRefusal(
  'too_many_keys',
  `The source already has the maximum of ${maxWriteKeys} write keys: send "keep" with the number of earlier keys that stay valid (0 to ${maxWriteKeys - 1}). Hookline keeps the newest, and removes the others.`,
)
