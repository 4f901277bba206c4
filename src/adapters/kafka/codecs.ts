import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type * as Kafkajs from 'kafkajs'
import * as lz4 from 'lz4js'
import snappy from 'snappyjs'
import { KafkaError } from './errors.ts'

/** Of a batch's records as bytes. */
export interface Codec {
  compress(bytes: Buffer): Promise<Buffer>
  decompress(bytes: Buffer): Promise<Buffer>
}

export const zstdCodec: Codec = { compress: promisify(zstdCompress), decompress: promisify(zstdDecompress) }

/** Magic, independent blocks of at most 64 KiB, checksum of these two: Kafka reads no other blocks, and that is what lz4js would write. */
const lz4Header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82])
const lz4EndMark = Buffer.alloc(4)
const lz4BlockBytes = 64 * 1024
const lz4StoredFlag = 0x8000_0000
const lz4Matches = new Uint32Array(64 * 1024)

export const lz4Codec: Codec = {
  async compress(bytes) {
    const parts: Uint8Array[] = [lz4Header]
    for (let at = 0; at < bytes.length; at += lz4BlockBytes)
      parts.push(...lz4Block(bytes.subarray(at, at + lz4BlockBytes)))
    return Buffer.concat([...parts, lz4EndMark])
  },
  decompress: async bytes => asBuffer(lz4.decompress(bytes)),
}

/** Its length, then its bytes: packed, or as they are when that is shorter. */
function lz4Block(bytes: Uint8Array): readonly [Buffer, Uint8Array] {
  const packed = new Uint8Array(lz4.compressBound(bytes.length))
  const size = lz4.compressBlock(bytes, packed, 0, bytes.length, lz4Matches.fill(0))
  const isStored = size === 0 || size >= bytes.length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(isStored ? bytes.length + lz4StoredFlag : size)
  return [length, isStored ? bytes : packed.subarray(0, size)]
}

/** Java writes snappy as a stream of blocks behind this header (magic, version, lowest version that can read it); others write one block. */
const xerialHeader = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1])
const xerialMagicLength = 8
const xerialBlockBytes = 32 * 1024

export const snappyCodec: Codec = {
  async compress(bytes) {
    const parts: Uint8Array[] = [xerialHeader]
    for (let at = 0; at < bytes.length; at += xerialBlockBytes) {
      const block = snappy.compress(bytes.subarray(at, at + xerialBlockBytes))
      const length = Buffer.alloc(4)
      length.writeInt32BE(block.length)
      parts.push(length, block)
    }
    return Buffer.concat(parts)
  },
  async decompress(bytes) {
    const isFramed = bytes.subarray(0, xerialMagicLength).equals(xerialHeader.subarray(0, xerialMagicLength))
    return isFramed ? Buffer.concat(unframe(bytes)) : asBuffer(snappy.uncompress(bytes))
  },
}

function unframe(bytes: Buffer): Uint8Array[] {
  const blocks: Uint8Array[] = []
  let at = xerialHeader.length
  while (at < bytes.length) {
    const end = at + 4 + (at + 4 <= bytes.length ? bytes.readInt32BE(at) : Number.NaN)
    if (!(end > at + 4 && end <= bytes.length))
      throw new KafkaError(`snappy: no whole block at byte ${at} of ${bytes.length}`, {
        code: 'CODEC',
        retriable: false,
      })
    blocks.push(snappy.uncompress(bytes.subarray(at + 4, end)))
    at = end
  }
  return blocks
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** kafkajs brings gzip only, and a record in another codec stops its consumer for good: so all are there before the first fetch. */
export function registerCodecs({ CompressionCodecs, CompressionTypes }: typeof Kafkajs): void {
  const codecs = [
    [CompressionTypes.Snappy, snappyCodec],
    [CompressionTypes.LZ4, lz4Codec],
    [CompressionTypes.ZSTD, zstdCodec],
  ] as const
  for (const [type, codec] of codecs) {
    const adapted = {
      compress: ({ buffer }: { buffer: Buffer }) => codec.compress(buffer),
      decompress: codec.decompress,
    }
    CompressionCodecs[type] = () => adapted
  }
}
