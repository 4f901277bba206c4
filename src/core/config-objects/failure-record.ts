import { type FailureState, minAttempts, urlsOf } from '../auto-disable/judge-failures.ts'
import type { AutomaticDisabling, Destination } from '../settings/settings.ts'
import { epochMs } from '../time.ts'
import type { ObjectChange, ObjectDocument } from './config-objects.ts'
import type { KnownVersion } from './fold.ts'
import { decodeValue, encodeValue, type ObjectRecord } from './object-record.ts'

/*
 * The record `failures/<destination id>` of the config topic: since when all attempts at a
 * destination fail, and whether Hookline has disabled it. Every process may write it, by the rule
 * for versions of objects (`fold.ts`), so of two concurrent writes one is ignored and decided again.
 * It is never deleted, and has no secret: its URLs are hashes.
 */

/** Replaces the name of an operator key, which cannot begin with `hookline.`. */
export const byLifecycle = 'hookline.lifecycle'

/** The field that changes when Hookline disables a destination, or when that ends. */
const changedField = 'enabled'

interface NewRecord extends Pick<ObjectRecord, 'id' | 'by' | 'at' | 'writeId'> {
  readonly state: FailureState
  /** The last record, and what it says. */
  readonly known: KnownVersion | undefined
  readonly before: FailureState | undefined
}

/** The record of a new state. */
export function failureRecord({ id, by, at, writeId, state, known, before }: NewRecord): ObjectRecord {
  const isChange = (state.disabled === undefined) !== (before?.disabled === undefined)
  return {
    ...{ kind: 'failures', id, by, at, writeId, copy: 0 },
    version: (known?.version ?? 0) + 1,
    action: known === undefined || known.action === 'deleted' ? 'created' : 'updated',
    fields: isChange ? [changedField] : [],
    value: encodeValue({ ...state }),
  }
}

/** The state in a record; `undefined` when this version of Hookline cannot read it. */
export function failureStateIn({ value }: Pick<ObjectRecord, 'value'>): FailureState | undefined {
  const decoded = value === undefined ? undefined : decodeValue(value)
  if (decoded?.kind !== 'document') return undefined
  const { urls, version, failingSince, attempts, gone, disabled } = decoded.document
  if (typeof urls !== 'string' || !isCount(version) || !isCount(attempts)) return undefined
  return {
    urls,
    version,
    failingSince: isCount(failingSince) ? epochMs(failingSince) : undefined,
    attempts: Math.min(attempts, minAttempts),
    gone: Array.isArray(gone) ? gone.filter(each => typeof each === 'string') : [],
    disabled: disablingIn(disabled),
  }
}

function disablingIn(value: unknown): AutomaticDisabling | undefined {
  const { at, reason, failingSince } = (value ?? {}) as ObjectDocument
  if (!isCount(at) || !isCount(failingSince) || (reason !== 'failing' && reason !== 'gone')) return undefined
  return { at: epochMs(at), reason, failingSince: epochMs(failingSince) }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Why Hookline has disabled a destination; `undefined` when it has not, or if the URLs have changed. */
export const disablingOf = (
  destination: Pick<Destination, 'webhooks'>,
  state: FailureState | undefined,
): AutomaticDisabling | undefined =>
  state?.disabled !== undefined && state.urls === urlsOf(destination) ? state.disabled : undefined

/** The change of a destination that a record makes; `undefined` when it only counts failures. */
export function changeOfFailures(record: ObjectRecord): ObjectChange | undefined {
  const { id, by, at, fields } = record
  if (fields.length === 0) return undefined
  return { kind: 'destination', id, version: failureStateIn(record)?.version ?? 0, action: 'updated', by, at, fields }
}
