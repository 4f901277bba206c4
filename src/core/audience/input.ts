import type { JsonText } from '../message/canonical-json-text.ts'
import { type ReportedResult, reportedResults } from '../message/delivered-or-undelivered.ts'
import { jsonValueIn } from '../message/json.ts'
import { isIdOrVersion, tooLongUserId } from '../message/message-ids-and-required-identifiers.ts'
import { type SyncMode, type SyncPart, syncModes } from './audience-watermark.ts'
import { syncId } from './sync-id.ts'

/**
 * A record of the audience input topic, keyed by user. Inputs about a whole audience are written to
 * every partition.
 */
export type AudienceInput =
  /** An observation: a user and the user's value in a sync. */
  | ({
      readonly kind: 'observed'
      readonly audience: string
      readonly userId: string
      readonly value: JsonText
    } & SyncPart)
  /** The end of a sync, written to every partition after all its observations are acknowledged. */
  | ({ readonly kind: 'sync_ended'; readonly audience: string } & SyncPart)
  | OutcomeInput
  /**
   * An operator replays a dead-lettered membership update. Hookline sends the user's current value,
   * not that of the dead letter.
   */
  | { readonly kind: 'resend'; readonly audience: string; readonly userId: string; readonly destination: string }
  /**
   * `hookline audience reset`: the next full sync sends all members again, to `destination`. If
   * `destination` is `undefined`, the sync sends them to all destinations.
   */
  | { readonly kind: 'reset'; readonly audience: string; readonly destination: string | undefined }
  /** The user was deleted. All memberships of the user are removed. */
  | { readonly kind: 'forgotten'; readonly userId: string }

/**
 * Input records that Hookline cannot decode, or that Kafka has lost. They may be about any
 * audience.
 */
export interface LostInput {
  readonly kind: 'lost'
  /** True when Kafka no longer has the records. */
  readonly isGone?: true
}

/** The result of a membership update at one destination. The dispatcher writes it. */
export interface OutcomeInput {
  readonly kind: 'outcome'
  readonly audience: string
  readonly userId: string
  readonly destination: string
  readonly version: number
  readonly value: JsonText
  readonly result: ReportedResult
}

/** An input in the form of `schemas/hookline.audience-input-value.avsc`. */
export interface InputRecord {
  readonly kind: string
  readonly audience: string | null
  readonly userId: string | null
  readonly destinationId: string | null
  readonly syncId: number | null
  readonly mode: string | null
  readonly value: string | null
  readonly version: number | null
  readonly result: string | null
}

const nothing: InputRecord = {
  kind: '',
  audience: null,
  userId: null,
  destinationId: null,
  syncId: null,
  mode: null,
  value: null,
  version: null,
  result: null,
}

export function toInputRecord(input: AudienceInput): InputRecord {
  if (!('destination' in input)) return { ...nothing, ...input }
  const { destination, ...fields } = input
  return { ...nothing, ...fields, destinationId: destination ?? null }
}

/**
 * The result of decoding an input. A record is `undecodable` if, for example, a newer version of
 * Hookline or another program wrote it. `detail` continues a sentence after "the input".
 */
export type ReadInput =
  | { readonly kind: 'input'; readonly input: AudienceInput }
  | { readonly kind: 'undecodable'; readonly detail: string }

export function fromInputRecord(record: InputRecord): ReadInput {
  const missing: string[] = []
  /** Returns a required field, and notes it as missing when it is absent or invalid. */
  const need = <T>(name: keyof InputRecord, isValid: (value: string | number) => boolean): T => {
    const value = record[name]
    if (value === null || !isValid(value)) missing.push(name)
    return value as T
  }
  const long = record.userId === null ? undefined : tooLongUserId(record.userId)
  if (long !== undefined) return undecodable(`'${record.kind.slice(0, 40)}': the user id ${long}`)
  const input = inputOf(record, need)
  if (input === undefined) return undecodable(`has the unknown kind '${record.kind.slice(0, 40)}'`)
  if (missing.length > 0) return undecodable(`'${record.kind}' has no valid ${missing.join(', ')}`)
  return { kind: 'input', input }
}

const undecodable = (detail: string): ReadInput => ({ kind: 'undecodable', detail })

type Need = <T>(name: keyof InputRecord, isValid: (value: string | number) => boolean) => T

function inputOf(record: InputRecord, need: Need): AudienceInput | undefined {
  const text = (name: keyof InputRecord) => need<string>(name, value => value !== '')
  const whole = (name: keyof InputRecord) => need<number>(name, isIdOrVersion)
  const value = () => need<JsonText>('value', json => jsonValueIn(String(json)) !== undefined)
  const sync = (): SyncPart => ({
    syncId: syncId(whole('syncId')),
    mode: need<SyncMode>('mode', mode => syncModes.some(known => known === mode)),
  })
  switch (record.kind) {
    case 'observed':
      return { kind: 'observed', audience: text('audience'), userId: text('userId'), value: value(), ...sync() }
    case 'sync_ended':
      return { kind: 'sync_ended', audience: text('audience'), ...sync() }
    case 'outcome':
      return {
        kind: 'outcome',
        audience: text('audience'),
        userId: text('userId'),
        destination: text('destinationId'),
        version: whole('version'),
        value: value(),
        result: need<ReportedResult>('result', result => reportedResults.some(known => known === result)),
      }
    case 'resend':
      return { kind: 'resend', audience: text('audience'), userId: text('userId'), destination: text('destinationId') }
    case 'reset':
      return { kind: 'reset', audience: text('audience'), destination: record.destinationId ?? undefined }
    case 'forgotten':
      return { kind: 'forgotten', userId: text('userId') }
    default:
      return undefined
  }
}

/** The user of an input (the record's key); `undefined` if the input is about whole audiences. */
export const inputUser = (input: AudienceInput | LostInput): string | undefined =>
  'userId' in input ? input.userId : undefined
