import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

type Step =
  | { readonly kind: 'receive'; readonly count: number }
  | { readonly kind: 'done'; readonly which: number }
  | { readonly kind: 'commit' }
  | { readonly kind: 'crash' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('receive' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('done' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
)
/** Distances between consecutive offsets. Some exceed the span of the bitmap in the metadata. */
const gaps = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.integer({ min: 2, max: 20 }) },
    { weight: 1, arbitrary: fc.integer({ min: 10_000, max: 60_000 }) },
  ),
  { minLength: 1, maxLength: 120 },
)
const spanLimit = 24_000

class Partition {
  readonly log: readonly number[]
  readonly start: number
  tracker: OffsetTracker
  committed: { readonly offset: number; readonly metadata: string }
  /** Offsets of the records that any owner has finished. */
  readonly everDone = new Set<number>()
  /** The value of `known` at the last commit. */
  knownAtCommit = new Set<number>()
  /** Offsets that the current owner has finished itself or knows from the commit metadata. */
  known = new Set<number>()
  open: number[] = []

  constructor(start: number, distances: readonly number[]) {
    let at = start
    this.start = start
    this.log = distances.map(distance => {
      const offset = at
      at += distance
      return offset
    })
    this.committed = { offset: start, metadata: '' }
    this.tracker = new OffsetTracker(start)
  }

  receive(count: number): void {
    const next = this.log.filter(offset => offset >= this.tracker.received).slice(0, count)
    for (const offset of next) {
      const isOpen = this.tracker.add(offset)
      if (!isOpen) expect(this.everDone).toContain(offset)
      // An offset known as finished is delivered again only if it was too far ahead for the commit
      // metadata.
      else if (this.knownAtCommit.has(offset)) expect(offset - this.committed.offset).toBeGreaterThanOrEqual(spanLimit)
      if (isOpen) this.open.push(offset)
      else this.known.add(offset)
    }
    if (next.length > 0)
      this.tracker.advance((this.log.find(offset => offset > (next.at(-1) as number)) ?? 0) as number)
  }

  done(which: number): void {
    if (this.open.length === 0) return
    const [offset] = this.open.splice(which % this.open.length, 1) as [number]
    this.tracker.done(offset)
    this.everDone.add(offset)
    this.known.add(offset)
  }

  commit(): void {
    const { committable: offset, metadata } = this.tracker
    expect(offset).toBeGreaterThanOrEqual(this.committed.offset)
    expect(metadata.length).toBeLessThanOrEqual(4_096)
    for (const each of this.log) if (each < offset) expect(this.everDone).toContain(each)
    this.committed = { offset, metadata }
    this.knownAtCommit = new Set(this.known)
  }

  crash(): void {
    this.tracker = new OffsetTracker(this.committed.offset, this.committed.metadata)
    this.known = new Set([...this.knownAtCommit].filter(offset => offset - this.committed.offset < spanLimit))
    this.knownAtCommit = new Set(this.known)
    this.open = []
  }
}

it('for any order of receive, done, commit and crash, skips no unfinished record and repeats no committed one', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), gaps, fc.array(step, { maxLength: 300 }), (start, distances, steps) => {
      const partition = new Partition(start, distances)
      for (const each of steps) {
        if (each.kind === 'receive') partition.receive(each.count)
        else if (each.kind === 'done') partition.done(each.which)
        else partition[each.kind]()
      }
      // The last owner finishes all records, so all offsets must be committed.
      partition.crash()
      partition.receive(Number.POSITIVE_INFINITY)
      while (partition.open.length > 0) partition.done(0)
      partition.commit()
      expect(partition.everDone).toEqual(new Set(partition.log))
      expect(partition.committed).toEqual({ offset: partition.tracker.received, metadata: '' })
    }),
    { numRuns: 300 },
  )
})
