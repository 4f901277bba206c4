import { epochMs, type JsonText } from '../units.ts'
import type { Membership } from './membership.ts'
import { syncId } from './sync.ts'

/*
 * A membership in bytes: two of flags, four doubles, the doubt if there is one, and the values that have no code. Little endian.
 * Flags, from the lowest bit: three of a code each for the desired, the acknowledged and the value in flight; overtaken; doubt.
 */

/** Values by their code; 0 is any other, which stands at the end as length and UTF-8 bytes. */
const values: readonly (string | undefined)[] = [undefined, 'null', 'false', 'true']
const asDesired = 4
const none = 5
const overtakenBit = 1 << 9
const doubtBit = 1 << 10

const fixedBytes = 2 + 4 * 8
const doubtBytes = 4 + 8
const lengthBytes = 4

/** Writes a state at `start` and returns how many bytes it took; undefined when there may be too few. */
export function packState(state: Membership, bytes: Buffer, start: number): number | undefined {
  const { desired, acknowledged, inFlight, doubt } = state
  const ofDesired = codeOf(desired, undefined)
  const ofAcknowledged = codeOf(acknowledged, desired)
  const ofInFlight = codeOf(inFlight?.value, desired)
  const mostText =
    mostBytes(ofDesired, desired) + mostBytes(ofAcknowledged, acknowledged) + mostBytes(ofInFlight, inFlight?.value)
  if (start + fixedBytes + doubtBytes + mostText > bytes.length) return undefined

  const flags = (inFlight?.isOvertaken === true ? overtakenBit : 0) | (doubt === undefined ? 0 : doubtBit)
  bytes.writeUInt16LE(ofDesired | (ofAcknowledged << 3) | (ofInFlight << 6) | flags, start)
  bytes.writeDoubleLE(state.syncId, start + 2)
  bytes.writeDoubleLE(state.version, start + 10)
  bytes.writeDoubleLE(state.position, start + 18)
  let end = bytes.writeDoubleLE(inFlight?.since ?? 0, start + 26)
  if (doubt !== undefined) end = bytes.writeDoubleLE(doubt.until, bytes.writeUInt32LE(doubt.versions, end))
  if (ofDesired === 0) end = writeText(desired, bytes, end)
  if (ofAcknowledged === 0) end = writeText(acknowledged as string, bytes, end)
  if (ofInFlight === 0) end = writeText(inFlight?.value as string, bytes, end)
  return end - start
}

/** No state takes more, whichever of its values have a code. */
export function mostStateBytes({ desired, acknowledged, inFlight }: Membership): number {
  const units = desired.length + (acknowledged?.length ?? 0) + (inFlight?.value.length ?? 0)
  return fixedBytes + doubtBytes + 3 * (lengthBytes + units)
}

/** UTF-8 takes three bytes at most for what UTF-16 has one unit for. */
const mostBytes = (code: number, text = ''): number => (code === 0 ? lengthBytes + text.length * 3 : 0)

function writeText(text: string, bytes: Buffer, start: number): number {
  const length = bytes.write(text, start + lengthBytes)
  return bytes.writeUInt32LE(length, start) + length
}

/** Reads the position of a packed state, without the rest of it. */
export const positionAt = (bytes: Buffer, start: number): number => bytes.readDoubleLE(start + 18)

/** The state that `packState` wrote at `start`. */
export function unpackState(bytes: Buffer, start: number): Membership {
  const flags = bytes.readUInt16LE(start)
  let end = start + fixedBytes
  let doubt: Membership['doubt']
  if ((flags & doubtBit) !== 0) {
    doubt = { versions: bytes.readUInt32LE(end), until: epochMs(bytes.readDoubleLE(end + 4)) }
    end += doubtBytes
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
    doubt,
    position: positionAt(bytes, start),
  }
}

function codeOf(value: string | undefined, desired: string | undefined): number {
  if (value === undefined) return none
  const code = values.indexOf(value)
  if (code > 0) return code
  return value === desired ? asDesired : 0
}
