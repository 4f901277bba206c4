import { parseField } from '../message/json.ts'
import type { LogRecord } from '../ports.ts'
import { epochMs, type JsonText } from '../units.ts'
import type { Membership } from './membership.ts'
import { type AudienceMark, syncId } from './sync.ts'

/** What a record of the memberships topic is about, as its key says. Without user and destination: the audience as a whole. */
export interface MemberKey {
  readonly audience: string
  readonly userId: string
  readonly destination: string
}

/** `["<audience>","<user>","<destination>"]`. The record stands in the partition of its user. */
export const membershipKey = ({ audience, userId, destination }: MemberKey): string =>
  JSON.stringify([audience, userId, destination])

/** `["<audience>"]`, once in every partition. */
export const markKey = (audience: string): string => JSON.stringify([audience])

/** What a key is about; undefined: it is none of ours. */
export function parseMembershipKey(key: string): MemberKey | { readonly audience: string } | undefined {
  const read = parseField(key, 'key')
  if (read.kind === 'rejected' || !Array.isArray(read.value)) return undefined
  const names = read.value as readonly unknown[]
  const [audience, userId, destination] = names
  if (typeof audience !== 'string' || names.length > 3) return undefined
  if (userId === undefined && destination === undefined) return { audience }
  return typeof userId === 'string' && typeof destination === 'string' ? { audience, userId, destination } : undefined
}

/** Values of the memberships topic as their Avro schema has them: `schemas/hookline.audience-memberships-value.avsc`. */
export interface MembershipRecord {
  readonly position: number
  readonly membership: {
    readonly desired: string
    readonly acknowledged: string | null
    readonly version: number
    readonly syncId: number
    readonly inFlight: { readonly value: string; readonly since: number; readonly overtaken: boolean } | null
    readonly doubt: { readonly versions: number; readonly until: number } | null
  } | null
  readonly mark: { readonly begun: number; readonly closed: number; readonly floor: number } | null
}

export function toMembershipRecord(state: Membership): MembershipRecord {
  const { desired, acknowledged = null, version, syncId: named, inFlight, doubt = null, position } = state
  const underWay = inFlight && { value: inFlight.value, since: inFlight.since, overtaken: inFlight.isOvertaken }
  const membership = { desired, acknowledged, version, syncId: named, inFlight: underWay ?? null, doubt }
  return { position, membership, mark: null }
}

export function toMarkRecord({ position, begun, closed, floor }: AudienceMark): MembershipRecord {
  return { position, membership: null, mark: { begun, closed, floor } }
}

/** Header of a tombstone: the offset of the input that it is of, which a state says in its value. */
export const positionHeader = 'position'

/** A record of the memberships topic as it is read. */
export interface ReadRecord {
  readonly key: string
  /** Undefined: a tombstone. */
  readonly value: MembershipRecord | undefined
  /** Offset of the input that the record is of; undefined: a tombstone of a version that did not say it. */
  readonly position: number | undefined
}

/** `value` undefined: a tombstone. */
export function readRecord(
  { key, headers }: Pick<LogRecord, 'key' | 'headers'>,
  value: MembershipRecord | undefined,
): ReadRecord {
  const told = headers[positionHeader]
  const position = value?.position ?? (told === undefined ? undefined : Number(told))
  return { key: key?.toString() ?? '', value, position }
}

/** Undefined: the record holds none. */
export function fromMembershipRecord({ position, membership }: MembershipRecord): Membership | undefined {
  if (membership === null) return undefined
  const { desired, acknowledged, version, syncId: named, inFlight, doubt } = membership
  return {
    desired: desired as JsonText,
    acknowledged: (acknowledged ?? undefined) as JsonText | undefined,
    inFlight:
      inFlight === null
        ? undefined
        : {
            value: inFlight.value as JsonText,
            since: epochMs(inFlight.since),
            isOvertaken: inFlight.overtaken,
          },
    version,
    syncId: syncId(named),
    doubt: doubt === null ? undefined : { versions: doubt.versions, until: epochMs(doubt.until) },
    position,
  }
}

/** Undefined: the record holds none. */
export function fromMarkRecord({ position, mark }: MembershipRecord): AudienceMark | undefined {
  if (mark === null) return undefined
  return { begun: syncId(mark.begun), closed: syncId(mark.closed), floor: mark.floor, position }
}
