import type { JsonText } from '../message/canonical-json-text.ts'
import { tooLongUserId } from '../message/message-ids-and-required-identifiers.ts'
import { parseField } from '../message/parse-message-json.ts'
import type { LogRecord } from '../ports.ts'
import { epochMs } from '../time.ts'
import type { AudienceWatermark } from './audience-watermark.ts'
import type { Membership } from './membership.ts'
import { syncId } from './sync-id.ts'

/** The key of a membership in the memberships topic. */
export interface MemberKey {
  readonly audience: string
  readonly userId: string
  readonly destination: string
}

/**
 * Returns the record key `["<audience>","<user>","<destination>"]`. The user id decides the
 * partition.
 */
export const membershipKey = ({ audience, userId, destination }: MemberKey): string =>
  JSON.stringify([audience, userId, destination])

/**
 * Returns the record key `["<audience>"]` of an audience's watermark. Each partition has its own
 * watermark of the audience, with this key.
 */
export const watermarkKey = (audience: string): string => JSON.stringify([audience])

/**
 * Parses the key of a membership or watermark; `undefined` for other text, or for a user id that
 * may be too long for `PackedMemberships`.
 */
export function parseMembershipKey(key: string): MemberKey | { readonly audience: string } | undefined {
  const read = parseField(key, 'key')
  if (read.kind === 'rejected' || !Array.isArray(read.value)) return undefined
  const names = read.value as readonly unknown[]
  const [audience, userId, destination] = names
  if (typeof audience !== 'string' || names.length > 3) return undefined
  if (userId === undefined && destination === undefined) return { audience }
  if (typeof userId !== 'string' || typeof destination !== 'string') return undefined
  return tooLongUserId(userId) === undefined ? { audience, userId, destination } : undefined
}

/**
 * A value of the memberships topic in the form of
 * `schemas/hookline.audience-memberships-value.avsc`.
 */
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
  const { desired, acknowledged = null, version, syncId: named, inFlight, unconfirmed = null, position } = state
  const inFlightRecord = inFlight && { value: inFlight.value, since: inFlight.since, overtaken: inFlight.isOvertaken }
  const membership = {
    desired,
    acknowledged,
    version,
    syncId: named,
    inFlight: inFlightRecord ?? null,
    doubt: unconfirmed && { versions: unconfirmed.bitSet, until: unconfirmed.until },
  }
  return { position, membership, mark: null }
}

export function toWatermarkRecord(watermark: AudienceWatermark): MembershipRecord {
  const { position, cancelledBelow, closedUpTo, versionFloor } = watermark
  return { position, membership: null, mark: { begun: cancelledBelow, closed: closedUpTo, floor: versionFloor } }
}

/** Header of a tombstone: the offset of the input that caused it. */
export const positionHeader = 'position'

/** A record that was read from the memberships topic. */
export interface ReadRecord {
  readonly key: string
  /** `undefined` for a tombstone. */
  readonly value: MembershipRecord | undefined
  /**
   * Offset of the input that caused the record; `undefined` for a tombstone of an older version of
   * Hookline.
   */
  readonly position: number | undefined
}

export function readRecord(
  { key, headers }: Pick<LogRecord, 'key' | 'headers'>,
  value: MembershipRecord | undefined,
): ReadRecord {
  const header = headers[positionHeader]
  const position = value?.position ?? (header === undefined ? undefined : Number(header))
  return { key: key?.toString() ?? '', value, position }
}

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
    unconfirmed: doubt === null ? undefined : { bitSet: doubt.versions, until: epochMs(doubt.until) },
    position,
  }
}

export function fromWatermarkRecord({ position, mark }: MembershipRecord): AudienceWatermark | undefined {
  if (mark === null) return undefined
  return {
    cancelledBelow: syncId(mark.begun),
    closedUpTo: syncId(mark.closed),
    versionFloor: mark.floor,
    position,
  }
}
