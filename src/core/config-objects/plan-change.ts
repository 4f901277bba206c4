import type { EncryptionKey } from '../encryption-key.ts'
import { policiesWithinLimits } from '../settings/check-policies.ts'
import type { WellFormed } from '../settings/configuration-rule.ts'
import type { EntryContext } from '../settings/entries-as-written.ts'
import { isSendable, sendableHint } from '../settings/sendable-keys-and-tokens.ts'
import { isSameValue } from '../settings/settings-change.ts'
import type { SettingsProblem } from '../settings/settings-problem.ts'
import type { EpochMs } from '../time.ts'
import { changedFields } from './changed-field-paths.ts'
import { type AllObjects, brokenReferences, type References, referencesOf, usesOf } from './check-object-references.ts'
import type { ChangeOutcome, ChangeRequest, Expected, ObjectDocument } from './config-objects.ts'
import { secretsIn } from './find-and-replace-secrets.ts'
import { maskIn } from './mask.ts'
import { isInFile } from './merge-objects.ts'
import { decodeValue, encodeValue, type ObjectName, type ObjectRecord } from './object-record.ts'
import { type KnownVersion, nextVersionOf } from './objects-from-topic.ts'
import { type ReadObject, writeKeysIn } from './read-object.ts'
import type { NewNonce } from './seal.ts'
import { sealDocument } from './sealed-document.ts'
import { unmask } from './unmask.ts'
import { validateObject } from './validate-object.ts'

/** The state on which a change is based. */
export interface ChangeBase {
  readonly all: AllObjects
  /**
   * The current version of the object, which may be a deletion. `undefined` when the object has
   * never existed.
   */
  readonly known: KnownVersion | undefined
  readonly current: ReadObject | undefined
  /** The key that encrypts secrets. */
  readonly key: EncryptionKey
  readonly context: EntryContext
  readonly now: EpochMs
  readonly writeId: string
  readonly newNonce: NewNonce
}

interface PlannedWrite {
  readonly kind: 'write'
  readonly record: ObjectRecord & ObjectName
  readonly references: References
  /**
   * Returns a problem for each invalid reference between the written object and the other objects.
   * Called again after the write, because another process may have changed other objects.
   */
  readonly problemsIn: (all: AllObjects) => readonly SettingsProblem[]
}

export type ChangePlan =
  | PlannedWrite
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[]; readonly followsFromTopic?: true }
  | Extract<ChangeOutcome, { kind: 'conflict' | 'not_found' | 'defined_in_file' }>

/**
 * Maximum length of a stored value in bytes. A destination with five webhooks and the longest
 * headers takes about 60 KiB.
 */
const maxValueBytes = 128 * 1024

/**
 * Whether the plan may be wrong because this process has not read a change of another process yet.
 * If so, the caller reads the topic to its end and plans again.
 */
export function mayBeOutdated(plan: ChangePlan, { dryRun = false }: Pick<ChangeRequest, 'dryRun'>): boolean {
  if (plan.kind === 'unchanged') return !dryRun
  if (plan.kind === 'refused') return plan.followsFromTopic === true
  return plan.kind === 'conflict' || plan.kind === 'not_found'
}

/** Decides what a requested change writes to the config topic, or why it writes nothing. */
export function planChange(request: ChangeRequest, base: ChangeBase): ChangePlan {
  if (request.isRenewal === true) return planRenewal(request, base)
  const { kind, id, expected } = request
  const { all, current, known } = base
  if (isInFile(all.file, { kind, id })) return { kind: 'defined_in_file' }
  const version = current === undefined ? undefined : known?.version
  if (!isExpected(expected, version)) return { kind: 'conflict', version }
  const next = request.next(current?.document)
  if (next === undefined) return current === undefined ? { kind: 'not_found' } : planDeletion(request, base)
  // Without this line, `planDocument` would refuse the unchanged document because of its problems.
  if (current !== undefined && current.problems.length > 0 && next === current.document) return { kind: 'unchanged' }
  return planDocument(request, next, base)
}

function isExpected(expected: Expected, version: number | undefined): boolean {
  switch (expected.kind) {
    case 'any':
      return true
    case 'absent':
      return version === undefined
    case 'version':
      return version === expected.version
  }
}

function planDeletion({ kind, id, by }: ChangeRequest, base: ChangeBase): ChangePlan {
  const problemsIn = (all: AllObjects) => usesOf({ kind, id }, all)
  const uses = problemsIn(base.all)
  if (uses.length > 0) return { kind: 'refused', problems: uses, followsFromTopic: true }
  return {
    kind: 'write',
    record: { ...recordOf({ kind, id, by }, base), action: 'deleted', fields: [], value: undefined },
    references: referencesOf({ kind, id }, base.current?.document, undefined),
    problemsIn,
  }
}

function planRenewal(request: ChangeRequest, base: ChangeBase): ChangePlan {
  const { current } = base
  if (current === undefined) return { kind: 'not_found' }
  const { kind, document, problems, hasOldSeal } = current
  if (!hasOldSeal) return { kind: 'unchanged' }
  const isReadable = [...secretsIn(kind, document).values()].every(secret => maskIn(secret) === undefined)
  return isReadable ? planWrite(request, document, base) : { kind: 'refused', problems }
}

function planDocument(request: ChangeRequest, given: ObjectDocument, base: ChangeBase): ChangePlan {
  const { kind, id } = request
  const { all, current, context } = base
  const { document, problems: masked } = unmask(kind, { id, ...given }, current?.document)
  const validated = validateObject(kind, id, document, context)
  const unsendable = kind === 'source' ? unsendableKeys(document, current?.document) : []
  const excessive = policyProblems(document, current?.document, context)
  const own = [...masked, ...unsendable, ...excessive, ...(validated.kind === 'invalid' ? validated.problems : [])]
  if (validated.kind === 'invalid' || own.length > 0) {
    const value = valueWithChangedSwitches(document, base)
    if (value !== undefined) return planWrite(request, document, base, { value })
    return { kind: 'refused', problems: own, ...(masked.length > 0 && { followsFromTopic: true }) }
  }
  const { object } = validated
  const problemsIn = (others: AllObjects) => brokenReferences(object, document, others, current?.document)
  const problems = problemsIn(all)
  if (problems.length > 0) return { kind: 'refused', problems, followsFromTopic: true }
  // An unchanged document is written again if one of its secrets was encrypted with an old key.
  const isUnchanged = current !== undefined && changedFields(current.document, document).length === 0
  if (isUnchanged && !current.hasOldSeal) return { kind: 'unchanged' }
  return planWrite(request, document, base, { problemsIn })
}

/**
 * The new value of a destination with problems, if only `enabled` and `paused` change. Copies the
 * encrypted secrets, because their encryption key may be lost.
 */
function valueWithChangedSwitches(document: ObjectDocument, { current, known }: ChangeBase): string | undefined {
  const fields = changedFields(current?.document, document)
  const isSwitch = (field: string) =>
    (field === 'enabled' || field === 'paused') && typeof document[field] === 'boolean'
  if (known?.value === undefined || current?.kind !== 'destination' || fields.length === 0) return undefined
  if (!fields.every(isSwitch)) return undefined
  const stored = decodeValue(known.value)
  if (stored.kind !== 'document') return undefined
  return encodeValue({ ...stored.document, ...Object.fromEntries(fields.map(field => [field, document[field]])) })
}

/**
 * Plans to write a document. `value` is the document's JSON text with encrypted secrets. Without
 * `value`, this function encrypts the secrets with the current key.
 */
function planWrite(
  { kind, id, by }: ChangeRequest,
  document: ObjectDocument,
  base: ChangeBase,
  { value: given, problemsIn = () => [] }: Partial<Pick<ObjectRecord, 'value'> & Pick<PlannedWrite, 'problemsIn'>> = {},
): ChangePlan {
  const { current, key, newNonce } = base
  const value = given ?? encodeValue(sealDocument({ kind, id }, document, key, newNonce))
  const bytes = Buffer.byteLength(value)
  if (bytes > maxValueBytes) return { kind: 'refused', problems: [tooLarge(bytes)] }
  const action = current === undefined ? 'created' : 'updated'
  const fields = changedFields(current?.document, document)
  const createdAt = current === undefined ? base.now : base.known?.createdAt
  const record = { ...recordOf({ kind, id, by }, base), action, fields, value, createdAt } as const
  return {
    kind: 'write',
    record: kind === 'source' ? { ...record, keyOffsets: keyOffsetsOf(document, current) } : record,
    references: referencesOf({ kind, id }, current?.document, document),
    problemsIn,
  }
}

/**
 * Returns a problem for each new write key that some clients cannot send. Existing keys cause no
 * problem, so that other fields can be changed.
 */
function unsendableKeys(document: ObjectDocument, earlier: ObjectDocument = {}): readonly SettingsProblem[] {
  const before = writeKeysIn(earlier)
  const isList = Array.isArray(document['writeKey'])
  return writeKeysIn(document).flatMap((key, index) =>
    typeof key !== 'string' || key === '' || before.includes(key) || isSendable(key)
      ? []
      : [
          {
            path: ['writeKey', ...(isList ? [index] : [])],
            message: 'has characters that some clients cannot send',
            hint: sendableHint,
          },
        ],
  )
}

/**
 * Returns a problem for each setting of a policy that exceeds a limit of `delivery`. An unchanged
 * policy causes none, even if a limit has changed.
 */
function policyProblems(
  document: ObjectDocument,
  earlier: ObjectDocument = {},
  context: EntryContext,
): readonly SettingsProblem[] {
  if (isSameValue(document['policy'], earlier['policy'])) return []
  const config = { ...context, destinations: [document] } as WellFormed
  return policiesWithinLimits(config, new Map()).map(problem => ({ ...problem, path: problem.path.slice(2) }))
}

/** Returns for each write key the offset of the record that added the key; `null` for a new key. */
const keyOffsetsOf = (document: ObjectDocument, current: ReadObject | undefined): ObjectRecord['keyOffsets'] =>
  writeKeysIn(document).map(key => {
    const index = current === undefined ? -1 : writeKeysIn(current.document).indexOf(key)
    return current?.keyOffsets[index] ?? null
  })

const recordOf = (
  { kind, id, by }: Pick<ChangeRequest, 'kind' | 'id' | 'by'>,
  { known, now, writeId }: ChangeBase,
) => ({
  kind,
  id,
  by,
  version: nextVersionOf(known),
  at: now,
  writeId,
  copy: 0,
})

const tooLarge = (bytes: number): SettingsProblem => ({
  path: [],
  message: `the document needs ${bytes} bytes in the config topic; the maximum is ${maxValueBytes} bytes`,
  hint: 'use shorter values or fewer entries',
})
