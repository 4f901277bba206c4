import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import snappy from 'snappyjs'
import {
  gzipCodec,
  isOversized,
  lz4Codec,
  maxUnpackedBytes,
  snappyCodec,
  zstdCodec,
} from '../../../../src/adapters/kafka/codecs.ts'
import { KafkaError } from '../../../../src/adapters/kafka/errors.ts'
import { loadKafkajs } from '../../../../src/adapters/kafka/library.ts'

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

describe('what unpacks to more than 64 MiB is refused', () => {
  it.each(Object.entries(codecs))('%s', async (_, codec) => {
    const packed = await codec.compress(Buffer.alloc(maxUnpackedBytes + 1))
    const refusal = await codec.decompress(packed).catch((error: unknown) => error)
    expect(isOversized(refusal)).toBe(true)
    expect(isOversized(await codec.decompress(packed.subarray(1)).catch((error: unknown) => error))).toBe(false)
  })

  it('one bare block of snappy that says so', async () => {
    const claim = Buffer.from([0x81, 0x80, 0x80, 0x20, 0])
    expect(isOversized(await snappyCodec.decompress(claim).catch((error: unknown) => error))).toBe(true)
  })
})

describe('snappy as others write it', () => {
  const text = Buffer.from('written by somebody else')

  it('one bare block', async () => {
    expect(await snappyCodec.decompress(snappy.compress(text))).toEqual(text)
  })

  it('framed by Java: header, then blocks with their lengths', async () => {
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
  ])('cut off $name is an error', async ({ cut }) => {
    const packed = await snappyCodec.compress(text)
    await expect(snappyCodec.decompress(packed.subarray(0, cut))).rejects.toBeInstanceOf(KafkaError)
  })
})

it('lz4 begins with the header that Kafka accepts', async () => {
  expect((await lz4Codec.compress(contents.text)).subarray(0, 7).toString('hex')).toBe('04224d18604082')
})

describe('kafkajs', () => {
  beforeAll(() => {
    loadKafkajs()
  })

  it.each(['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const)('knows %s', async name => {
    const { CompressionCodecs, CompressionTypes } = loadKafkajs()
    const codec = CompressionCodecs[CompressionTypes[name]]() as {
      compress(encoder: { buffer: Buffer }): Promise<Buffer>
      decompress(bytes: Buffer): Promise<Buffer>
    }
    const packed = await codec.compress({ buffer: contents.text })
    expect(await codec.decompress(packed)).toEqual(contents.text)
  })
})
