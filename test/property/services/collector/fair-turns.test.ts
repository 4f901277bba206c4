import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createFairTurns } from '../../../../src/services/collector/fair-turns.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

/** The work of a usual turn, in characters. */
const usual = 65_536
/** The minimum cost of a request, in characters. */
const minCost = 1_024
const sourceIds = ['web', 'app', 'shop', undefined]
const sourceId = fc.constantFrom(...sourceIds)
const perTick = <Arrival>(arrival: fc.Arbitrary<Arrival>) =>
  fc.array(fc.array(arrival, { maxLength: 10 }), { maxLength: 12 })
/**
 * Resolves in the next tick (iteration of the event loop), after all callers that get a turn in it.
 */
const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

it('a tick has at most one turn, and in addition at most the work of a usual turn, and every request is served', async () => {
  const request = fc.record({ sourceId, work: fc.oneof(fc.nat(usual), fc.nat(10 * usual)) })
  await fc.assert(
    fc.asyncProperty(perTick(request), async ticks => {
      const { next, short } = createFairTurns(new ManualClock())
      let waiting = 0
      let turns = 0
      let shortWork = 0
      async function serve(source: string | undefined, work: number): Promise<void> {
        waiting += 1
        if (work > usual) {
          for (const each of [work, usual]) {
            await next(source, each)
            turns += 1
          }
        } else {
          await short(source, work)
          shortWork += Math.max(work, minCost)
        }
        waiting -= 1
      }
      for (let tick = 0; tick < ticks.length || waiting > 0; tick += 1) {
        await nextTick()
        for (const each of ticks[tick] ?? []) void serve(each.sourceId, each.work)
        await Promise.resolve()
        expect(turns).toBeLessThanOrEqual(1)
        expect(shortWork).toBeLessThanOrEqual(usual)
        turns = 0
        shortWork = 0
      }
    }),
  )
})

it('a source that was idle gets its turn after at most one turn of each other source', async () => {
  await fc.assert(
    fc.asyncProperty(perTick(sourceId), async ticks => {
      const { next } = createFairTurns(new ManualClock())
      const waiting = new Map<string | undefined, number>()
      const ticksToTurn: number[] = []
      let tick = 0
      async function serve(source: string | undefined): Promise<void> {
        const before = waiting.get(source) ?? 0
        const from = tick
        waiting.set(source, before + 1)
        await next(source)
        waiting.set(source, (waiting.get(source) as number) - 1)
        if (before === 0) ticksToTurn.push(tick - from)
      }
      for (const sources of ticks) {
        for (const source of sources) void serve(source)
        tick += 1
        await nextTick()
      }
      while ([...waiting.values()].some(count => count > 0)) {
        tick += 1
        await nextTick()
      }
      expect(Math.max(0, ...ticksToTurn)).toBeLessThanOrEqual(sourceIds.length)
    }),
  )
})
