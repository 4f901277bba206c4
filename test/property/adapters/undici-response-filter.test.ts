import type { Socket } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ResponseFilter } from '../../../src/adapters/webhook/undici-response-filter.ts'

/**
 * Reads chunks through a response filter. Returns the text for the parser, the error of the filter,
 * and the filter.
 */
function read(pieces: readonly string[]) {
  const waiting = pieces.map(piece => Buffer.from(piece, 'latin1'))
  let error: Error | undefined
  const socket = {
    read: () => waiting.shift() ?? null,
    destroy: (cause: Error) => {
      error ??= cause
      waiting.length = 0
    },
  } as unknown as Socket
  const filter = new ResponseFilter(socket)
  filter.expectAnswer()
  const parts: string[] = []
  for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) parts.push(chunk.toString('latin1'))
  return { text: parts.join(''), error, filter }
}

const cut = (text: string, places: readonly number[]): string[] => {
  const at = [0, ...new Set(places.map(place => place % (text.length + 1))), text.length].toSorted((a, b) => a - b)
  return at
    .slice(1)
    .map((end, index) => text.slice(at[index], end))
    .filter(piece => piece !== '')
}

const field = fc.stringMatching(/^[A-Za-z-]{1,10}: [ -~]{0,30}\r\n$/)
const headOf = (status: fc.Arbitrary<number>) =>
  fc
    .tuple(
      fc.constantFrom('0', '1'),
      status,
      fc.constantFrom('', ' OK', ' HTTP/1.1 100'),
      fc.array(field, { maxLength: 3 }),
    )
    .map(([minor, code, reason, fields]) => `HTTP/1.${minor} ${code}${reason}\r\n${fields.join('')}\r\n`)
const interim = headOf(fc.integer({ min: 100, max: 199 }).filter(status => status !== 101))
const final = headOf(fc.oneof(fc.constant(101), fc.integer({ min: 200, max: 999 })))
const body = fc.oneof(
  fc.constant(''),
  fc.constant('HTTP/1.1 100 Continue\r\n\r\n'),
  fc.string({ unit: 'binary-ascii' }),
)
const places = fc.array(fc.nat(2_000), { maxLength: 20 })

describe('the parser reads', () => {
  it('the final response, byte for byte, for any chunks', () => {
    fc.assert(
      fc.property(fc.array(interim, { maxLength: 4 }), final, body, places, (heads, head, rest, at) => {
        const { text, error } = read(cut(heads.join('') + head + rest, at))
        expect({ text, error }).toEqual({ text: head + rest, error: undefined })
      }),
    )
  })

  it('everything, when the data does not begin like a response', () => {
    const start = fc
      .string({ unit: 'binary-ascii', minLength: 1 })
      .filter(text => !'HTTP/1.'.startsWith(text.slice(0, 7)))
    fc.assert(
      fc.property(start, places, (text, at) => {
        fc.pre(!text.startsWith('H'))
        expect(read(cut(text, at)).text).toBe(text)
      }),
    )
  })

  it('nothing of the next response before its request was sent', () => {
    const { filter } = read([])
    expect(filter.isUntouched).toBe(true)
    expect(read(['HTTP/1.1 1']).filter.isUntouched).toBe(false)
  })
})

describe('limits endless responses', () => {
  it.each([
    ['an interim head over 16 KiB', `HTTP/1.1 103 x\r\nA: ${'a'.repeat(16_384)}\r\n\r\n`],
    ['33 interim heads', 'HTTP/1.1 103 x\r\n\r\n'.repeat(33)],
    ['a response over 512 KiB', `HTTP/1.1 200 ${'a'.repeat(600_000)}`],
  ])('%s', (_name, text) => {
    for (const size of [1_000, 64_000, 1_000_000]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.slice(index * size, (index + 1) * size),
      )
      expect(read(pieces).error).toMatchObject({ name: 'Error', code: 'HPE_HEADER_OVERFLOW' })
    }
  })
})
