import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

/** The number of added offsets, and those that are not done. */
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

/**
 * Gaps between offsets: mostly none, some small ones, as from transaction markers, and a few huge
 * ones, as from compaction.
 */
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
        const { received } = oracle
        const expected = [committable(oracle), received, oracle.open.length, received - committable(oracle)]
        expect([tracker.committable, tracker.received, tracker.inProgressCount, tracker.offsetSpan]).toEqual(expected)
      }
    }),
  )
})
