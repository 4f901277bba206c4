import { promisify } from 'node:util'
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import type * as Kafkajs from 'kafkajs'
import * as lz4 from 'lz4js'
import snappy from 'snappyjs'
import { KafkaError } from './errors.ts'

/** Compresses and decompresses the encoded records of a batch. */
export interface Codec {
  compress(bytes: Buffer): Promise<Buffer>
  decompress(bytes: Buffer): Promise<Buffer>
}

/**
 * Maximum size of an unpacked batch, in bytes. Producers with default settings pack a mebibyte; the
 * largest batches in the tests have 200,000 records and unpack to some 25 MB.
 */
export const maxUnpackedBytes = 64 * 1024 * 1024

const zlibLimit = { maxOutputLength: maxUnpackedBytes }

export const gzipCodec: Codec = {
  compress: bytes => promisify(gzip)(bytes),
  decompress: bytes => promisify(gunzip)(bytes, zlibLimit).catch(rethrowOrOversized),
}

export const zstdCodec: Codec = {
  compress: bytes => promisify(zstdCompress)(bytes),
  decompress: bytes => promisify(zstdDecompress)(bytes, zlibLimit).catch(rethrowOrOversized),
}

const oversized = (cause?: unknown): KafkaError => refusal(`it unpacks to more than ${maxUnpackedBytes} bytes`, cause)

const refusal = (message: string, cause?: unknown): KafkaError =>
  new KafkaError(message, { code: 'CODEC', retriable: false, cause })

function rethrowOrOversized(error: NodeJS.ErrnoException): never {
  throw error.code === 'ERR_BUFFER_TOO_LARGE' ? oversized(error) : error
}

/**
 * Magic, flags for independent blocks of at most 64 KiB, and their checksum. Kafka reads
 * independent blocks only; lz4js would write dependent ones.
 */
const lz4Header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82])
const lz4Magic = lz4Header.subarray(0, 4)
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
  async decompress(bytes) {
    const { hasBlockChecksums, blockBytes, blocksAt } = readLz4Header(bytes)
    const parts: Buffer[] = []
    const unpacked = Buffer.alloc(blockBytes)
    let room = maxUnpackedBytes
    for (let at = blocksAt; ; ) {
      const word = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : Number.NaN
      if (word === 0) return Buffer.concat(parts)
      const isStored = word >= lz4StoredFlag
      const block = bytes.subarray(at + 4, at + 4 + (isStored ? word - lz4StoredFlag : word))
      at += 4 + block.length + (hasBlockChecksums ? 4 : 0)
      if (!(at <= bytes.length)) throw refusal('lz4: it is cut off')
      // The size counts also the bytes that do not fit, which are not written.
      const size = isStored ? block.length : lz4.decompressBlock(block, unpacked, 0, block.length, 0)
      if (size > blockBytes) throw refusal(`lz4: a block unpacks to ${size} bytes, more than ${blockBytes}`)
      room -= size
      if (room < 0) throw oversized()
      parts.push(isStored ? block : Buffer.from(unpacked.subarray(0, size)))
    }
  },
}

/**
 * Reads the frame header. lz4js allocates whatever content size the header claims, and misreads
 * block checksums. The broker has verified the checksums.
 */
function readLz4Header(bytes: Buffer): {
  readonly hasBlockChecksums: boolean
  readonly blockBytes: number
  readonly blocksAt: number
} {
  const [flags = 0, sizes = 0] = bytes.subarray(lz4Magic.length)
  const isReadable = bytes.subarray(0, lz4Magic.length).equals(lz4Magic) && (flags & 0xe0) === 0x60 && sizes >= 0x40
  if (!isReadable) throw refusal('lz4: no frame of independent blocks')
  return {
    hasBlockChecksums: (flags & 0x10) > 0,
    // 64 KiB, 256 KiB, 1 MiB, 4 MiB.
    blockBytes: 64 * 1024 * 4 ** ((sizes >> 4) - 4),
    blocksAt: lz4Magic.length + 2 + ((flags & 0x08) > 0 ? 8 : 0) + 1,
  }
}

/** The length and the bytes of a block: packed, or stored when that is shorter. */
function lz4Block(bytes: Uint8Array): readonly [Buffer, Uint8Array] {
  const packed = new Uint8Array(lz4.compressBound(bytes.length))
  const size = lz4.compressBlock(bytes, packed, 0, bytes.length, lz4Matches.fill(0))
  const isStored = size === 0 || size >= bytes.length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(isStored ? bytes.length + lz4StoredFlag : size)
  return [length, isStored ? bytes : packed.subarray(0, size)]
}

/**
 * Java clients write snappy as a stream of blocks after this header (magic, version, lowest
 * compatible version); other clients write a single block.
 */
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
    return isFramed ? Buffer.concat(unpackBlocks(bytes)) : asBuffer(unpackBlock(bytes, maxUnpackedBytes))
  },
}

function unpackBlocks(bytes: Buffer): Uint8Array[] {
  const blocks: Uint8Array[] = []
  let at = xerialHeader.length
  let room = maxUnpackedBytes
  while (at < bytes.length) {
    const end = at + 4 + (at + 4 <= bytes.length ? bytes.readInt32BE(at) : Number.NaN)
    if (!(end > at + 4 && end <= bytes.length)) throw refusal(`snappy: no whole block at byte ${at} of ${bytes.length}`)
    const block = unpackBlock(bytes.subarray(at + 4, end), room)
    blocks.push(block)
    room -= block.length
    at = end
  }
  return blocks
}

/** A block begins with its unpacked size. */
function unpackBlock(block: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return snappy.uncompress(block, maxBytes)
  } catch (error) {
    throw /is too big/.test((error as Error).message) ? oversized(error) : error
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** By the compression type in a batch's attributes. */
const byNumber: Readonly<Record<number, Codec>> = { 1: gzipCodec, 2: snappyCodec, 3: lz4Codec, 4: zstdCodec }

/** Unpacks the records of a compressed batch. @throws KafkaError `CODEC`, or the codec's error */
export async function unpack(compression: number, bytes: Buffer): Promise<Buffer> {
  const codec = byNumber[compression]
  if (codec !== undefined) return codec.decompress(bytes)
  throw refusal(`no codec for compression type ${compression}`)
}

/** Registers codecs for producers: kafkajs has gzip only. Fetched batches use `unpack`. */
export function registerCodecs({
  CompressionCodecs,
  CompressionTypes,
}: Pick<typeof Kafkajs, 'CompressionCodecs' | 'CompressionTypes'>): void {
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
