import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

/** The simplest model of a tracker: the added and the done offsets. */
interface Oracle {
  readonly received: number
  readonly open: readonly number[]
}

const step = {
  add: (oracle: Oracle, offset: number): Oracle => ({ received: offset + 1, open: [...oracle.open, offset] }),
  done: (oracle: Oracle, offset: number): Oracle => ({
    ...oracle,
    open: oracle.open.filter(other => other !== offset),
  }),
  advance: (oracle: Oracle, next: number): Oracle => ({ ...oracle, received: Math.max(oracle.received, next) }),
}
const committable = ({ open, received }: Oracle): number => (open.length === 0 ? received : Math.min(...open))

/** Gaps: mostly none, sometimes small (transaction markers), sometimes huge (compaction). */
const gap = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.nat(10_000_000) },
)
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), gap }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('done' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), by: fc.integer({ min: -20, max: 1_000 }) }),
  },
)

it('agrees with the oracle after every step of every interleaving', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.array(command, { maxLength: 400 }), (position, commands) => {
      const tracker = new OffsetTracker(position)
      let oracle: Oracle = { received: position, open: [] }
      for (const each of commands) {
        if (each.kind === 'add') {
          const offset = oracle.received + each.gap
          tracker.add(offset)
          oracle = step.add(oracle, offset)
        } else if (each.kind === 'advance') {
          tracker.advance(oracle.received + each.by)
          oracle = step.advance(oracle, oracle.received + each.by)
        } else if (oracle.open.length > 0) {
          const offset = oracle.open[each.which % oracle.open.length] as number
          tracker.done(offset)
          oracle = step.done(oracle, offset)
        }
        expect([tracker.committable, tracker.received, tracker.open]).toEqual([
          committable(oracle),
          oracle.received,
          oracle.open.length,
        ])
      }
    }),
  )
})

it('after a crash, exactly the records that were not done or not committed are read again', () => {
  fc.assert(
    fc.property(fc.array(gap, { minLength: 1, maxLength: 200 }), fc.infiniteStream(fc.nat()), (gaps, choices) => {
      const tracker = new OffsetTracker(0)
      const undone = new Set<number>()
      for (const each of gaps) {
        undone.add(tracker.received + each)
        tracker.add(tracker.received + each)
      }
      while (undone.size > 0) {
        const left = [...undone]
        const offset = left[(choices.next().value as number) % left.length] as number
        tracker.done(offset)
        undone.delete(offset)
        expect([...undone].every(each => each >= tracker.committable)).toBe(true)
      }
      expect(tracker.committable).toBe(tracker.received)
    }),
  )
})

it('is monotonic: neither the commit nor the received position ever goes back', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), commands => {
      const tracker = new OffsetTracker(100)
      const open: number[] = []
      let [committed, received] = [tracker.committable, tracker.received]
      for (const each of commands) {
        if (each.kind === 'add') {
          open.push(tracker.received + each.gap)
          tracker.add(tracker.received + each.gap)
        } else if (each.kind === 'advance') tracker.advance(tracker.received + each.by)
        else if (open.length > 0) tracker.done(open.splice(each.which % open.length, 1)[0] as number)
        expect(tracker.committable).toBeGreaterThanOrEqual(committed)
        expect(tracker.received).toBeGreaterThanOrEqual(received)
        expect(tracker.span).toBe(tracker.received - tracker.committable)
        ;[committed, received] = [tracker.committable, tracker.received]
      }
    }),
  )
})
