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
 * The maximum size of a decompressed batch, in bytes. It protects the process from decompression
 * bombs.
 */
export const maxDecompressedBytes = 64 * 1024 * 1024

/**
 * Options that decompress in chunks of up to 1 MiB. Each chunk takes one iteration of the event
 * loop. With Node's default of 16 KiB, a large batch would take ten times as much CPU time.
 */
const decompressOptions = ({ length }: Buffer) => ({
  maxOutputLength: maxDecompressedBytes,
  chunkSize: Math.min(Math.max(4 * length, 16_384), 1_048_576),
})

export const gzipCodec: Codec = {
  compress: bytes => promisify(gzip)(bytes),
  decompress: bytes => promisify(gunzip)(bytes, decompressOptions(bytes)).catch(rethrowOrOversized),
}

export const zstdCodec: Codec = {
  compress: bytes => promisify(zstdCompress)(bytes),
  decompress: bytes => promisify(zstdDecompress)(bytes, decompressOptions(bytes)).catch(rethrowOrOversized),
}

const oversized = (cause?: unknown): KafkaError =>
  codecError(`it decompresses to more than ${maxDecompressedBytes} bytes`, cause)

const codecError = (message: string, cause?: unknown): KafkaError =>
  new KafkaError(message, { code: 'CODEC', retriable: false, cause })

function rethrowOrOversized(error: NodeJS.ErrnoException): never {
  throw error.code === 'ERR_BUFFER_TOO_LARGE' ? oversized(error) : error
}

/**
 * Magic number, flags for independent blocks of at most 64 KiB, and header checksum. Kafka accepts
 * only independent blocks; lz4js writes dependent ones.
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
    const decompressed = Buffer.alloc(blockBytes)
    let remaining = maxDecompressedBytes
    for (let at = blocksAt; ; ) {
      const word = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : Number.NaN
      if (word === 0) return Buffer.concat(parts)
      const isStored = word >= lz4StoredFlag
      const block = bytes.subarray(at + 4, at + 4 + (isStored ? word - lz4StoredFlag : word))
      at += 4 + block.length + (hasBlockChecksums ? 4 : 0)
      if (!(at <= bytes.length)) throw codecError('lz4: the frame is truncated')
      // lz4js writes only the first `blockBytes` bytes of a larger block, but returns the size of
      // the whole block.
      const size = isStored ? block.length : lz4.decompressBlock(block, decompressed, 0, block.length, 0)
      if (size > blockBytes)
        throw codecError(`lz4: a block decompresses to ${size} bytes, but the frame allows only ${blockBytes}`)
      remaining -= size
      if (remaining < 0) throw oversized()
      parts.push(isStored ? block : Buffer.from(decompressed.subarray(0, size)))
    }
  },
}

/**
 * Reads the header of a frame. lz4js's own reader is not used: it allocates as many bytes as the
 * header claims, without a limit, and misreads frames with block checksums.
 */
function readLz4Header(bytes: Buffer): {
  readonly hasBlockChecksums: boolean
  readonly blockBytes: number
  readonly blocksAt: number
} {
  const [flags = 0, sizes = 0] = bytes.subarray(lz4Magic.length)
  const isReadable = bytes.subarray(0, lz4Magic.length).equals(lz4Magic) && (flags & 0xe0) === 0x60 && sizes >= 0x40
  if (!isReadable)
    throw codecError(
      'lz4: the frame header is invalid, or the frame has linked blocks, which Hookline cannot read (the producer must write independent blocks)',
    )
  return {
    hasBlockChecksums: (flags & 0x10) > 0,
    // Bits 4 to 6 have the maximum block size: 4, 5, 6 or 7 for 64 KiB, 256 KiB, 1 MiB or 4 MiB.
    blockBytes: 64 * 1024 * 4 ** ((sizes >> 4) - 4),
    blocksAt: lz4Magic.length + 2 + ((flags & 0x08) > 0 ? 8 : 0) + 1,
  }
}

/**
 * Encodes a block: its length field and its bytes, which are compressed if that makes them shorter.
 */
function lz4Block(bytes: Uint8Array): readonly [Buffer, Uint8Array] {
  const packed = new Uint8Array(lz4.compressBound(bytes.length))
  const size = lz4.compressBlock(bytes, packed, 0, bytes.length, lz4Matches.fill(0))
  const isStored = size === 0 || size >= bytes.length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(isStored ? bytes.length + lz4StoredFlag : size)
  return [length, isStored ? bytes : packed.subarray(0, size)]
}

/**
 * The header of snappy-java's block stream (xerial): magic, version, lowest compatible version.
 * Java clients write this stream; other clients may write a single snappy block.
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
    return isFramed ? Buffer.concat(decompressBlocks(bytes)) : asBuffer(decompressBlock(bytes, maxDecompressedBytes))
  },
}

function decompressBlocks(bytes: Buffer): Uint8Array[] {
  const blocks: Uint8Array[] = []
  let at = xerialHeader.length
  let remaining = maxDecompressedBytes
  while (at < bytes.length) {
    const end = at + 4 + (at + 4 <= bytes.length ? bytes.readInt32BE(at) : Number.NaN)
    if (!(end > at + 4 && end <= bytes.length))
      throw codecError(`snappy: the block at byte ${at} of ${bytes.length} is truncated`)
    const block = decompressBlock(bytes.subarray(at + 4, end), remaining)
    blocks.push(block)
    remaining -= block.length
    at = end
  }
  return blocks
}

/** Decompresses one block. snappyjs throws when the size in the block exceeds `maxBytes`. */
function decompressBlock(block: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return snappy.uncompress(block, maxBytes)
  } catch (error) {
    throw /is too big/.test((error as Error).message) ? oversized(error) : error
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** The codecs by the compression type in the attributes of a batch. */
const byNumber: Readonly<Record<number, Codec>> = { 1: gzipCodec, 2: snappyCodec, 3: lz4Codec, 4: zstdCodec }

/**
 * Decompresses the records of a batch.
 * @throws KafkaError `CODEC`, or the error of the codec's library
 */
export async function decompress(compression: number, bytes: Buffer): Promise<Buffer> {
  const codec = byNumber[compression]
  if (codec !== undefined) return codec.decompress(bytes)
  throw codecError(`compression type ${compression} is unknown`)
}

/**
 * Registers the codecs that kafkajs lacks. kafkajs uses them to produce, and to read formats older
 * than record batches. Record batches are read with `decompress` instead.
 */
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
