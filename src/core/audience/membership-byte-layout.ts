import type { JsonText } from '../message/canonical-json-text.ts'
import { epochMs } from '../time.ts'
import type { Membership } from './membership.ts'
import { syncId } from './sync-id.ts'

/*
 * The byte layout of a membership, little endian:
 * - 2 bytes of flags
 * - four doubles: `syncId`, `version`, `position` and `inFlight.since`
 * - the unconfirmed changes, if any
 * - the texts of the values whose code in the flags is 0
 *
 * The flags, from the lowest bit:
 * - three codes of three bits: the desired, acknowledged and in-flight value
 * - one bit for `isOvertaken`
 * - one bit for unconfirmed changes
 */

/**
 * Frequent values. The code of a value is its index in this list (1 to 3), or:
 * - 0: the text is at the end of the packed state.
 * - 4: the value is the desired value.
 * - 5: the value is `undefined`.
 */
const values: readonly (string | undefined)[] = [undefined, 'null', 'false', 'true']
const asDesired = 4
const none = 5
const overtakenBit = 1 << 9
const unconfirmedBit = 1 << 10

const fixedBytes = 2 + 4 * 8
const unconfirmedBytes = 4 + 8
const lengthBytes = 4

/**
 * Writes a packed state to `bytes` at `start`, and returns the state's length in bytes. Returns
 * `undefined`, without writing, when `bytes` may be too short.
 */
export function packState(state: Membership, bytes: Buffer, start: number): number | undefined {
  const { desired, acknowledged, inFlight, unconfirmed } = state
  const ofDesired = codeOf(desired, undefined)
  const ofAcknowledged = codeOf(acknowledged, desired)
  const ofInFlight = codeOf(inFlight?.value, desired)
  const maxTextBytes =
    maxValueBytes(ofDesired, desired) +
    maxValueBytes(ofAcknowledged, acknowledged) +
    maxValueBytes(ofInFlight, inFlight?.value)
  if (start + fixedBytes + unconfirmedBytes + maxTextBytes > bytes.length) return undefined

  const flags = (inFlight?.isOvertaken === true ? overtakenBit : 0) | (unconfirmed === undefined ? 0 : unconfirmedBit)
  bytes.writeUInt16LE(ofDesired | (ofAcknowledged << 3) | (ofInFlight << 6) | flags, start)
  bytes.writeDoubleLE(state.syncId, start + 2)
  bytes.writeDoubleLE(state.version, start + 10)
  bytes.writeDoubleLE(state.position, start + 18)
  let end = bytes.writeDoubleLE(inFlight?.since ?? 0, start + 26)
  if (unconfirmed !== undefined)
    end = bytes.writeDoubleLE(unconfirmed.until, bytes.writeUInt32LE(unconfirmed.bitSet, end))
  if (ofDesired === 0) end = writeText(desired, bytes, end)
  if (ofAcknowledged === 0) end = writeText(acknowledged as string, bytes, end)
  if (ofInFlight === 0) end = writeText(inFlight?.value as string, bytes, end)
  return end - start
}

/** Maximum bytes that a state can take. */
export function maxStateBytes({ desired, acknowledged, inFlight }: Membership): number {
  const units = desired.length + (acknowledged?.length ?? 0) + (inFlight?.value.length ?? 0)
  return fixedBytes + unconfirmedBytes + 3 * (lengthBytes + units)
}

/**
 * Maximum bytes of a value with its length field. UTF-8 needs at most three bytes for a UTF-16 code
 * unit.
 */
const maxValueBytes = (code: number, text = ''): number => (code === 0 ? lengthBytes + text.length * 3 : 0)

function writeText(text: string, bytes: Buffer, start: number): number {
  const length = bytes.write(text, start + lengthBytes)
  return bytes.writeUInt32LE(length, start) + length
}

/** Reads only `position` from a packed state. */
export const positionAt = (bytes: Buffer, start: number): number => bytes.readDoubleLE(start + 18)

/** Reads the state that `packState` wrote at `start`. */
export function unpackState(bytes: Buffer, start: number): Membership {
  const flags = bytes.readUInt16LE(start)
  let end = start + fixedBytes
  let unconfirmed: Membership['unconfirmed']
  if ((flags & unconfirmedBit) !== 0) {
    unconfirmed = { bitSet: bytes.readUInt32LE(end), until: epochMs(bytes.readDoubleLE(end + 4)) }
    end += unconfirmedBytes
  }
  const readValue = (code: number, desired?: string): JsonText | undefined => {
    if (code === none) return undefined
    if (code === asDesired) return desired as JsonText
    if (code !== 0) return values[code] as JsonText
    const from = end + lengthBytes
    end = from + bytes.readUInt32LE(end)
    return bytes.toString('utf8', from, end) as JsonText
  }
  const desired = readValue(flags & 7) as JsonText
  const acknowledged = readValue((flags >> 3) & 7, desired)
  const sent = readValue((flags >> 6) & 7, desired)
  const since = epochMs(bytes.readDoubleLE(start + 26))
  return {
    desired,
    acknowledged,
    inFlight: sent === undefined ? undefined : { value: sent, since, isOvertaken: (flags & overtakenBit) !== 0 },
    version: bytes.readDoubleLE(start + 10),
    syncId: syncId(bytes.readDoubleLE(start + 2)),
    unconfirmed,
    position: positionAt(bytes, start),
  }
}

function codeOf(value: string | undefined, desired: string | undefined): number {
  if (value === undefined) return none
  const code = values.indexOf(value)
  if (code > 0) return code
  return value === desired ? asDesired : 0
}
