import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { DamagedGzip, linesOf } from '../../../../src/adapters/streams/plain-or-gzip-lines.ts'

const longest = 10

async function* pieces(...given: readonly (string | Uint8Array)[]): AsyncGenerator<Buffer> {
  for (const piece of given) yield Buffer.from(piece as string)
}
async function read(...given: readonly (string | Uint8Array)[]): Promise<readonly (string | undefined)[]> {
  const lines: (string | undefined)[] = []
  for await (const some of linesOf(pieces(...given), longest)) lines.push(...some)
  return lines
}

describe('lines', () => {
  it.each<[string, readonly (string | Uint8Array)[], readonly (string | undefined)[]]>([
    ['nothing', [], []],
    ['an empty chunk', [''], []],
    ['Latin-1 is undefined', ['ada\n', Buffer.from('José\n', 'latin1'), 'bob'], ['ada', undefined, 'bob']],
    ['Latin-1 without a line feed is undefined', [Buffer.from('José', 'latin1')], [undefined]],
    ['UTF-16 is undefined', [Buffer.from('\ufeffu1\n', 'utf16le')], [undefined, undefined]],
    ['UTF-16 without a byte order mark is undefined', [Buffer.from('u1\n', 'utf16le')], [undefined, undefined]],
    ['a replacement character is text', ['\u{fffd}\n'], ['\u{fffd}']],
    ['a line that is too long is cut', ['123456789é0\n'], ['123456789é']],
    ['a line that is cut within a character is text', ['1234567890é\n'], ['1234567890\u{fffd}']],
  ])('%s', async (_name, given, lines) => {
    expect(await read(...given)).toEqual(lines)
  })
})

describe('gzip', () => {
  const packed = gzipSync('ada\nbob\n')

  it('is unpacked when it has several members', async () => {
    expect(await read(packed, packed)).toEqual(['ada', 'bob', 'ada', 'bob'])
  })

  it('may end with zero bytes', async () => {
    expect(await read(packed, Buffer.alloc(3), Buffer.alloc(100_000))).toEqual(['ada', 'bob'])
  })

  it.each<[string, readonly Uint8Array[]]>([
    ['with zero bytes between members', [Buffer.concat([packed, Buffer.alloc(3), packed])]],
    ['with zero bytes between members, in other chunks', [packed, Buffer.alloc(3), packed]],
    ['with a member after many zero bytes', [packed, ...Array(40).fill(Buffer.alloc(100_000)), packed]],
    ['with one other byte after zero bytes', [Buffer.concat([packed, Buffer.from([0, 1, 0, 0])])]],
    ['cut short', [packed.subarray(0, -9)]],
    ['damaged', [Buffer.concat([packed.subarray(0, 12), Buffer.from('nonsense')])]],
  ])('%s is reported', async (_name, given) => {
    await expect(read(...given)).rejects.toThrow(DamagedGzip)
  })
})

describe('the source of the chunks', () => {
  async function* failing(first: Uint8Array): AsyncGenerator<Buffer> {
    yield Buffer.from(first)
    throw new Error('the client closed the connection')
  }
  it('passes on an error after the zero bytes of gzip', async () => {
    const unpacked = Promise.withResolvers<void>()
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.concat([gzipSync('ada\n'), Buffer.alloc(3)])
      await unpacked.promise
      throw new Error('the client closed the connection')
    }
    const reading = (async () => {
      for await (const lines of linesOf(source(), longest)) if (lines.length > 0) setImmediate(unpacked.resolve)
    })()
    await expect(reading).rejects.toThrow('the client closed the connection')
  })

  it.each([
    ['plain', Buffer.from('ada\nbob')],
    ['gzip', gzipSync('ada\n')],
  ])('passes on its error (%s)', async (_name, first) => {
    const lines: (string | undefined)[] = []
    const reading = (async () => {
      for await (const some of linesOf(failing(first), longest)) lines.push(...some)
    })()
    await expect(reading).rejects.toThrow('the client closed the connection')
  })

  it.each([
    ['plain', Buffer.from('ada\n')],
    ['gzip', gzipSync('ada\n')],
  ])('is read only on demand, and closed when the reader stops (%s)', async (_name, piece) => {
    let [given, isEnded] = [0, false]
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          given++
          yield piece
        }
      } finally {
        isEnded = true
      }
    }
    for await (const _some of linesOf(endless(), longest)) break
    for (let turn = 0; turn < 10 && !isEnded; turn++) await new Promise(resolve => setImmediate(resolve))
    expect(isEnded).toBe(true)
    expect(given * piece.length).toBeLessThan(1_000_000)
  })
})
