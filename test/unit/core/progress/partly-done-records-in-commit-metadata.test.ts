import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  type CommitState,
  encodeState,
  metadataOf,
  parseCommit,
} from '../../../../src/core/progress/commit-metadata.ts'
import {
  type PartlyDone,
  partlyDoneBytes,
  readerOf,
  readPartlyDone,
  toPartlyDoneText,
} from '../../../../src/core/progress/partly-done-records-in-commit-metadata.ts'

const plenty = 100_000
const asMap = (records: readonly PartlyDone[]) => new Map(records.map(([offset, done]) => [offset, [...done].sort()]))

function commitText(state: CommitState) {
  const encoded = encodeState(0, state)
  return { text: metadataOf(encoded) as string, uncovered: encoded.uncovered }
}

describe('done destinations in the metadata of a commit', () => {
  it.each([
    { name: 'none', records: [], text: /^$/ },
    { name: 'one', records: [[0, ['crm']]], text: /^;p1:/ },
  ] as const)('$name', ({ records, text }) => {
    const partlyDone = records as unknown as readonly PartlyDone[]
    expect(commitText({ done: [], partlyDone, received: 1 }).text).toMatch(text)
  })

  it('are restored unchanged, for any done records', () => {
    const record = fc.tuple(
      fc.integer({ min: 0, max: 23_999 }),
      fc.uniqueArray(fc.constantFrom('crm', 'erp', 'a.long_name-of-a-destination', 'b', 'c'), { minLength: 1 }),
    )
    fc.assert(
      fc.property(
        fc.nat(2 ** 45),
        fc.uniqueArray(record, { selector: ([at]) => at, maxLength: 400 }),
        (committed, all) => {
          const records = all.map(([at, done]): PartlyDone => [committed + at, done]).sort(([a], [b]) => a - b)
          const { bytes, covered } = partlyDoneBytes(committed, records, plenty, { extraBytes: () => 0, unread: 0 })
          expect(covered).toHaveLength(records.length)
          const parsed = readPartlyDone(committed, readerOf(toPartlyDoneText(bytes))!) ?? new Map<number, string[]>()
          expect(asMap([...parsed])).toEqual(asMap(records))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('of a thousand records and three random destinations fit next to a full bitmap', () => {
    const names = ['crm', 'erp', 'billing']
    const records = Array.from({ length: 1_000 }, (_, index): PartlyDone => {
      const which = 1 + ((index * 2_654_435_761) % 6)
      return [index, names.filter((_name, bit) => (which >> bit) & 1)]
    })
    const { text, uncovered } = commitText({ done: [19_999], partlyDone: records, received: 20_000 })
    expect([uncovered, text.length <= 4_096]).toEqual([[], true])
    expect(parseCommit(0, text).partlyDone.size).toBe(1_000)
  })

  it('leave room for offsets that an earlier owner finished beyond the received ones', () => {
    const records = Array.from({ length: 500 }, (_, index): PartlyDone => [index, [`destination-${index}`]])
    const { text, uncovered } = commitText({ done: [23_999], partlyDone: records, received: 500 })
    expect(text.length).toBeLessThanOrEqual(4_096)
    const { done, partlyDone } = parseCommit(0, text)
    expect([[...done], partlyDone.size + uncovered.length]).toEqual([[23_999], 500])
  })

  it('with too little space, keeps the first records and reports the first dropped one', () => {
    const records = Array.from({ length: 500 }, (_, index): PartlyDone => [index, [`destination-${index}`]])
    const { text, uncovered } = commitText({ done: [], partlyDone: records, received: 24_000 })
    expect(text.length).toBeLessThanOrEqual(4_096)
    expect(uncovered.length).toBeGreaterThan(400)
    const { partlyDone } = parseCommit(0, text)
    expect([...partlyDone.keys()].concat(uncovered).sort((a, b) => a - b)).toEqual(records.map(([offset]) => offset))
  })

  it.each([
    'committed by hand',
    'p1:',
    'p1:A*==',
    'p1://///w==',
    `p1:${'/'.repeat(3_000)}`,
    'd1:AQ==;p1:AgEB;p1:AgEB',
    ';;',
  ])('ignores what is not its own: %s', text => {
    for (const metadata of [text, `;${text}`]) expect(parseCommit(0, metadata).partlyDone.size).toBe(0)
  })
})
