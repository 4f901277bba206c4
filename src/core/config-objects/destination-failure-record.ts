import { type FailureState, minAttempts, urlHashesOf } from '../auto-disable/judge-failures.ts'
import { isCount } from '../message/json.ts'
import type { AutomaticDisabling, Destination } from '../settings/settings.ts'
import { epochMs } from '../time.ts'
import type { ObjectChange, ObjectDocument } from './config-objects.ts'
import { decodeValue, encodeValue, type ObjectRecord } from './object-record.ts'
import type { KnownVersion } from './objects-from-topic.ts'

/*
 * The record `failures/<destination id>` of the config topic stores a destination's failure state.
 * If two processes write concurrently, all processes ignore one of the two records
 * (`objects-from-topic.ts`). The writer of the ignored record then decides again.
 */

/**
 * The author of Hookline's own changes. Other authors are operator keys, whose names cannot begin
 * with `hookline.`.
 */
export const byLifecycle = 'hookline.lifecycle'

/** The field of the destination that a failure record reports as changed. */
const changedField = 'enabled'

interface NewRecord extends Pick<ObjectRecord, 'id' | 'by' | 'at' | 'writeId'> {
  readonly state: FailureState
  /** The destination's last failure record. `before` is the failure state in this last record. */
  readonly known: KnownVersion | undefined
  readonly before: FailureState | undefined
}

/** Makes the record that stores a new failure state. */
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

/** The failure state in a record; `undefined` when this version of Hookline cannot read it. */
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

/**
 * Returns how Hookline disabled the destination; `undefined` if Hookline has not disabled it, or if
 * the webhook URLs have changed since the disabling.
 */
export const disablingOf = (
  destination: Pick<Destination, 'webhooks'>,
  state: FailureState | undefined,
): AutomaticDisabling | undefined =>
  state?.disabled !== undefined && state.urls === urlHashesOf(destination) ? state.disabled : undefined

/**
 * The change that a failure record makes to its destination; `undefined` if the record does not
 * change whether the destination is enabled.
 */
export function changeOfFailures(record: ObjectRecord): ObjectChange | undefined {
  const { id, by, at, fields } = record
  if (fields.length === 0) return undefined
  return { kind: 'destination', id, version: failureStateIn(record)?.version ?? 0, action: 'updated', by, at, fields }
}
