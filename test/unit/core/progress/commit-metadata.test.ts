import { expect, it } from '@jest/globals'
import { doneAheadText, parseDoneAhead } from '../../../../src/core/progress/commit-metadata.ts'

it.each([
  { name: 'none', done: [], text: '' },
  { name: 'the first bit', done: [100], text: 'd1:AQ==' },
  { name: 'bits of a byte, from the lowest', done: [101, 107], text: 'd1:gg==' },
  { name: 'bytes before the first are zero, none follow the last', done: [124], text: 'd1:AAAAAQ==' },
  { name: 'in any order, twice', done: [108, 101, 108], text: 'd1:AgE=' },
])('$name', ({ done, text }) => {
  expect(doneAheadText(100, done)).toBe(text)
  expect(parseDoneAhead(100, text)).toEqual(new Set(done))
})

it('omits offsets below the commit or too far ahead', () => {
  expect(parseDoneAhead(100, doneAheadText(100, [99, 101, 24_099, 24_100]))).toEqual(new Set([101, 24_099]))
})

it('is never longer than the limit of the broker', () => {
  const all = Array.from({ length: 30_000 }, (_, index) => 2 ** 50 + index)
  const text = doneAheadText(2 ** 50, all)
  expect(text).toHaveLength(4_003)
  expect(parseDoneAhead(2 ** 50, text)).toEqual(new Set(all.slice(0, 24_000)))
})

it.each([
  { name: 'nothing', metadata: '' },
  { name: 'of another tool', metadata: 'committed by hand' },
  { name: 'of another format', metadata: 'd2:AQ==' },
  { name: 'only the prefix', metadata: 'd1:' },
  { name: 'no base64', metadata: 'd1:A*==' },
  { name: 'more after the end', metadata: 'd1:AQ==AQ==' },
  { name: 'oversize', metadata: `d1:${'/'.repeat(4_004)}` },
])('ignores what is not its own: $name', ({ metadata }) => {
  expect(parseDoneAhead(0, metadata)).toEqual(new Set())
})
