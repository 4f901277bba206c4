import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

/** The names are long, so that the metadata of a commit has no room for all of them. */
const names = Array.from({ length: 30 }, (_, index) => `${'long-name-'.repeat(12)}${index}`)
const records = 40

const owner = fc.record({
  reads: fc.nat(records),
  /** These destinations are done with every `step`th record in progress. */
  destinations: fc.subarray(names, { maxLength: 20 }),
  step: fc.integer({ min: 1, max: 9 }),
  done: fc.array(fc.nat(), { maxLength: 9 }),
})
type Owner = typeof owner extends fc.Arbitrary<infer T> ? T : never

function work(tracker: OffsetTracker, { reads, destinations, step, done }: Owner): void {
  const open: number[] = []
  const end = Math.min(tracker.received + reads, records)
  for (let offset = tracker.received; offset < end; offset++) if (tracker.add(offset)) open.push(offset)
  for (const destination of destinations)
    for (let index = 0; index < open.length; index += step)
      tracker.partlyDone(open[index] as number, destination, 'delivered')
  for (const which of done)
    if (open.length > 0) tracker.done(open.splice(which % open.length, 1)[0] as number, { hour: 480_000, entries: [] })
}

/**
 * For each record: the destinations that are done with the record, and the number of its results.
 */
const knownOf = (tracker: OffsetTracker, offsets: readonly number[]): readonly string[] =>
  offsets.map(offset => {
    const destinations = [...new Set(tracker.doneFor(offset))].sort()
    return `${offset}: ${destinations}, ${[...tracker.resultsOf(offset)].length} results`
  })

it('for any succession of owners, each commit keeps what is known of the records that the owner has not read', () => {
  fc.assert(
    fc.property(
      fc.array(owner, { minLength: 2, maxLength: 4 }),
      fc.constantFrom(undefined, 480_000),
      (owners, exactSince) => {
        let tracker = new OffsetTracker(0, '', exactSince)
        for (const each of owners) {
          work(tracker, each)
          // The process defers deliveries of records without room in the commit metadata
          // (`uncovered`), so it must have read them.
          const { uncovered, position } = tracker
          expect(Math.max(-1, ...uncovered)).toBeLessThan(tracker.received)
          const next = new OffsetTracker(position.offset, position.metadata, exactSince)
          const offsets = Array.from({ length: records }, (_, offset) => offset)
          const kept = offsets.filter(offset => !tracker.isDone(offset) && !uncovered.has(offset))
          expect(knownOf(next, kept)).toEqual(knownOf(tracker, kept))
          tracker = next
        }
      },
    ),
  )
})
