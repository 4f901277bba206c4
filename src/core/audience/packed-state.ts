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

/** Writes a state at the beginning of `bytes` and returns how many it took; undefined when they are too few. */
export function packState(state: Membership, bytes: Buffer): number | undefined {
  const { desired, acknowledged, inFlight, doubt } = state
  const codes = [codeOf(desired), codeOf(acknowledged, desired), codeOf(inFlight?.value, desired)] as const
  const texts = [desired, acknowledged, inFlight?.value].filter((_, at) => codes[at] === 0) as string[]
  const textBytes = texts.reduce((sum, text) => sum + lengthBytes + Buffer.byteLength(text), 0)
  const total = fixedBytes + (doubt === undefined ? 0 : doubtBytes) + textBytes
  if (total > bytes.length) return undefined

  const flags = (inFlight?.isOvertaken ? overtakenBit : 0) | (doubt === undefined ? 0 : doubtBit)
  let end = bytes.writeUInt16LE(codes[0] | (codes[1] << 3) | (codes[2] << 6) | flags, 0)
  for (const number of [state.syncId, state.version, state.position, inFlight?.since ?? 0])
    end = bytes.writeDoubleLE(number, end)
  if (doubt !== undefined) end = bytes.writeDoubleLE(doubt.until, bytes.writeUInt32LE(doubt.versions, end))
  for (const text of texts) {
    const length = bytes.write(text, end + lengthBytes)
    end = bytes.writeUInt32LE(length, end) + length
  }
  return end
}

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
    position: bytes.readDoubleLE(start + 18),
  }
}

function codeOf(value: string | undefined, desired?: string): number {
  if (value === undefined) return none
  const code = values.indexOf(value)
  if (code > 0) return code
  return value === desired ? asDesired : 0
}
