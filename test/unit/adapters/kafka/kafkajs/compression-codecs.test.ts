import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import snappy from 'snappyjs'
import {
  gzipCodec,
  lz4Codec,
  maxDecompressedBytes,
  snappyCodec,
  zstdCodec,
} from '../../../../../src/adapters/kafka/kafkajs/compression-codecs.ts'
import { KafkaError } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'

const codecs = { gzip: gzipCodec, snappy: snappyCodec, lz4: lz4Codec, zstd: zstdCodec }
const contents = {
  nothing: Buffer.alloc(0),
  'one byte': Buffer.from('x'),
  text: Buffer.from('{"a":1}'.repeat(100)),
  noise: randomBytes(5_000),
  'more than a block of zeros': Buffer.alloc(300_000),
  'more than a block of noise': randomBytes(200_001),
}

describe.each(Object.entries(codecs))('%s', (_, codec) => {
  it.each(Object.entries(contents))('%s', async (_name, bytes) => {
    const packed = await codec.compress(bytes)
    expect((await codec.decompress(packed)).equals(bytes)).toBe(true)
  })

  it('makes text smaller', async () => {
    expect((await codec.compress(contents.text)).length).toBeLessThan(contents.text.length / 3)
  })
})

describe('content that decompresses to more than 64 MiB is rejected', () => {
  const tooLarge = 'decompresses to more than 67108864 bytes'

  it.each(Object.entries(codecs))('%s', async (_, codec) => {
    const packed = await codec.compress(Buffer.alloc(maxDecompressedBytes + 1))
    await expect(codec.decompress(packed)).rejects.toThrow(tooLarge)
    await expect(codec.decompress(packed.subarray(1))).rejects.not.toThrow(tooLarge)
  })

  it('a single snappy block that declares a larger size', async () => {
    const claim = Buffer.from([0x81, 0x80, 0x80, 0x20, 0])
    await expect(snappyCodec.decompress(claim)).rejects.toThrow(tooLarge)
  })
})

describe('snappy as other clients write it', () => {
  const text = Buffer.from('written by somebody else')

  it('reads a single block without a header', async () => {
    expect(await snappyCodec.decompress(snappy.compress(text))).toEqual(text)
  })

  it('reads the block stream of Java clients', async () => {
    const block = snappy.compress(text)
    const framed = Buffer.concat([
      Buffer.from('82534e4150505900', 'hex'),
      Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, block.length]),
      block,
      Buffer.from([0, 0, 0, block.length]),
      block,
    ])
    expect(await snappyCodec.decompress(framed)).toEqual(Buffer.concat([text, text]))
  })

  it.each([
    { name: 'in a length', cut: 18 },
    { name: 'in a block', cut: 22 },
  ])('rejects a stream that is truncated $name', async ({ cut }) => {
    const packed = await snappyCodec.compress(text)
    await expect(snappyCodec.decompress(packed.subarray(0, cut))).rejects.toBeInstanceOf(KafkaError)
  })
})

describe('lz4 as other clients write it', () => {
  const text = Buffer.from('written by somebody else')
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const stored = Buffer.concat([word(0x8000_0000 + text.length), text])
  const size = (bytes: number): Buffer => Buffer.concat([word(bytes % 2 ** 32), word(Math.floor(bytes / 2 ** 32))])
  /**
   * An LZ4 frame with these blocks. `more`: optional header fields. The header checksum is 0,
   * because the decoder does not check it.
   */
  const frame = (flags: number, blockSize: number, more: Buffer, ...blocks: Buffer[]): Buffer =>
    Buffer.concat([Buffer.from([0x04, 0x22, 0x4d, 0x18, flags, blockSize]), more, Buffer.of(0), ...blocks, word(0)])
  const none = Buffer.alloc(0)

  it.each([
    { name: 'a checksum after each block', packed: frame(0x70, 0x40, none, stored, word(7), stored, word(8)) },
    { name: 'the content size', packed: frame(0x68, 0x40, size(2 * text.length), stored, stored) },
    { name: 'a wrong content size of one terabyte', packed: frame(0x68, 0x70, size(1e12), stored, stored) },
    { name: 'a wrong content size of 0', packed: frame(0x68, 0x40, size(0), stored, stored) },
  ])('reads a frame with $name', async ({ packed }) => {
    expect(String(await lz4Codec.decompress(packed))).toBe(`${text}${text}`)
  })

  it.each([
    { name: 'truncated within a block', packed: frame(0x60, 0x40, none, stored).subarray(0, 20) },
    { name: 'truncated before the end mark', packed: frame(0x60, 0x40, none, stored).subarray(0, -4) },
    { name: 'with dependent blocks', packed: frame(0x40, 0x40, none, stored) },
    {
      name: 'with a block above the declared block size',
      packed: frame(0x60, 0x40, none, word(0x8000_0000 + 70_000), Buffer.alloc(70_000)),
    },
  ])('rejects a frame $name', async ({ packed }) => {
    await expect(lz4Codec.decompress(packed)).rejects.toBeInstanceOf(KafkaError)
  })
})

it('lz4 begins with the header that Kafka accepts', async () => {
  expect((await lz4Codec.compress(contents.text)).subarray(0, 7).toString('hex')).toBe('04224d18604082')
})
