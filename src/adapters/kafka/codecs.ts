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

export const lz4Codec: Codec = {
  compress: async bytes => asBuffer(lz4.compress(bytes)),
  decompress: async bytes => asBuffer(lz4.decompress(bytes)),
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
