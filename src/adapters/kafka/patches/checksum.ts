import { endianness } from 'node:os'
import { replaceInternal } from '../internals.ts'

/** Castagnoli's polynomial, its bits reversed. */
const polynomial = 0x82f63b78
const bytesAtOnce = 8
const wordBytes = 4
const noWords = new Int32Array()
const isLowByteFirst = endianness() === 'LE'

/** kafkajs looks up each byte after the one before; a batch of records has hundreds of thousands. What comes out is the same. */
export function cureSlowChecksum(): void {
  replaceInternal('protocol/recordBatch/crc32C/index', crc32c)
}

/** For each byte, and each number of bytes behind it, what it makes of the rest of a division. One after the other, 256 each. */
const tables = tablesFor(polynomial)

/** CRC-32C, unsigned: of every record batch. Eight bytes at a time (slicing by 8), read as two words. */
export function crc32c(bytes: Buffer): number {
  const { buffer, byteOffset, length } = bytes
  // Words begin at multiples of their size, or cannot be had as such.
  const first = Math.min(-byteOffset & (wordBytes - 1), length)
  const pairs = isLowByteFirst ? Math.floor((length - first) / bytesAtOnce) : 0
  const words = pairs === 0 ? noWords : new Int32Array(buffer, byteOffset + first, 2 * pairs)
  let rest = sumByByte(bytes, 0, first, -1)
  for (let at = 0; at < words.length; at += 2) {
    const low = rest ^ words[at]!
    const high = words[at + 1]!
    rest =
      tables[1_792 + (low & 0xff)]! ^
      tables[1_536 + ((low >>> 8) & 0xff)]! ^
      tables[1_280 + ((low >>> 16) & 0xff)]! ^
      tables[1_024 + (low >>> 24)]! ^
      tables[768 + (high & 0xff)]! ^
      tables[512 + ((high >>> 8) & 0xff)]! ^
      tables[256 + ((high >>> 16) & 0xff)]! ^
      tables[high >>> 24]!
  }
  return ~sumByByte(bytes, first + words.byteLength, length, rest) >>> 0
}

function sumByByte(bytes: Buffer, from: number, to: number, before: number): number {
  let rest = before
  for (let at = from; at < to; at++) rest = tables[(rest ^ bytes[at]!) & 0xff]! ^ (rest >>> 8)
  return rest
}

function tablesFor(divisor: number): Int32Array {
  const all = new Int32Array(bytesAtOnce * 256)
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte
    for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ divisor
    all[byte] = rest
  }
  for (let at = 256; at < all.length; at++) all[at] = all[all[at - 256]! & 0xff]! ^ (all[at - 256]! >>> 8)
  return all
}
