import { gzipSync } from 'node:zlib'
import { describe, it } from '@jest/globals'
import fc from 'fast-check'
import { linesOf } from '../../../../src/adapters/streams/plain-or-gzip-lines.ts'

const longest = 6
const character = fc.constantFrom('a', 'é', '€', '𝄞', '\r', ' ', '\n', '\n')
const text = fc.array(character, { maxLength: 60 }).map(each => each.join(''))
const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 })

function piecesOf(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map(place => Math.min(place, bytes.length)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

async function read(pieces: readonly Buffer[]): Promise<readonly (string | undefined)[]> {
  async function* given() {
    yield* pieces
  }
  const lines: (string | undefined)[] = []
  for await (const some of linesOf(given(), longest)) lines.push(...some)
  return lines
}

/** Returns the expected lines. Text after the last line feed is a line only if it is not empty. */
function expected(whole: string): readonly string[] {
  const lines = whole.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => Buffer.from(line).toString('utf8', 0, longest + 1))
}

describe('lines', () => {
  it('are the same for any chunks, plain or gzip', async () => {
    await fc.assert(
      fc.asyncProperty(text, cuts, fc.boolean(), async (whole, at, isPacked) => {
        const bytes = isPacked ? gzipSync(whole) : Buffer.from(whole)
        const lines = await read(piecesOf(bytes, at))
        if (JSON.stringify(lines) !== JSON.stringify(expected(whole))) throw new Error(JSON.stringify(lines))
      }),
      { numRuns: 1_000 },
    )
  })
})
