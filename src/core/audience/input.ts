import { tooLongUserId } from '../message/identifiers.ts'
import { type ChangeResult, changeResults } from '../message/own-event.ts'
import type { JsonText } from '../units.ts'
import { type SyncMode, type SyncPart, syncId, syncModes } from './sync.ts'

/** What stands on the input topic. Keyed by the user; what concerns all of an audience goes to every partition. */
export type AudienceInput =
  | ({
      readonly kind: 'observed'
      readonly audience: string
      readonly userId: string
      readonly value: JsonText
    } & SyncPart)
  /** Written when every observation of the sync is acknowledged, and never for one that was cut short. To every partition. */
  | ({ readonly kind: 'sync_ended'; readonly audience: string } & SyncPart)
  | OutcomeInput
  | { readonly kind: 'resend'; readonly audience: string; readonly userId: string; readonly destination: string }
  /** To every partition. Without a destination: all of them. */
  | { readonly kind: 'reset'; readonly audience: string; readonly destination: string | undefined }
  | { readonly kind: 'forgotten'; readonly userId: string }

/** How a change ended, from the dispatcher. */
export interface OutcomeInput {
  readonly kind: 'outcome'
  readonly audience: string
  readonly userId: string
  readonly destination: string
  readonly version: number
  readonly value: JsonText
  readonly result: ChangeResult
}

/** Inputs as their Avro schema has them: `schemas/hookline.audience-input-value.avsc`. */
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

/** The input that a record holds, or what is wrong with it, after `the input`: a newer version wrote it, or somebody who is not us. */
export type ReadInput =
  | { readonly kind: 'input'; readonly input: AudienceInput }
  | { readonly kind: 'undecodable'; readonly detail: string }

export function fromInputRecord(record: InputRecord): ReadInput {
  const missing: string[] = []
  /** A field that this kind of input needs, in the form that it has to have. */
  const need = <T>(name: keyof InputRecord, isRight: (value: string | number) => boolean): T => {
    const value = record[name]
    if (value === null || !isRight(value)) missing.push(name)
    return value as T
  }
  const long = record.userId === null ? undefined : tooLongUserId(record.userId)
  if (long !== undefined) return undecodable(`'${record.kind.slice(0, 40)}': userId ${long}`)
  const input = inputOf(record, need)
  if (input === undefined) return undecodable(`is of a kind that is not known, '${record.kind.slice(0, 40)}'`)
  return missing.length === 0 ? { kind: 'input', input } : undecodable(`'${record.kind}' lacks ${missing.join(', ')}`)
}

const undecodable = (detail: string): ReadInput => ({ kind: 'undecodable', detail })

type Need = <T>(name: keyof InputRecord, isRight: (value: string | number) => boolean) => T

function inputOf(record: InputRecord, need: Need): AudienceInput | undefined {
  const text = (name: keyof InputRecord) => need<string>(name, value => value !== '')
  const whole = (name: keyof InputRecord) => need<number>(name, Number.isSafeInteger)
  const value = () => need<JsonText>('value', isJson)
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
        result: need<ChangeResult>('result', result => changeResults.some(known => known === result)),
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

function isJson(value: string | number): boolean {
  try {
    JSON.parse(String(value))
    return true
  } catch {
    return false
  }
}

/** Whom an input is about, the key of its record; undefined: all of an audience, in every partition. */
export const inputUser = (input: AudienceInput): string | undefined => ('userId' in input ? input.userId : undefined)
