import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { DestinationRateLimit } from '../../../../src/core/flow/destination-rate-limit.ts'
import { type Member, ModelGroup } from '../../../support/dispatcher/model-consumer-group.ts'

/** Step of the simulated clock, in ms. A timer of a process may fire up to one step late. */
const stepMs = 5
/** A longer step, for the tests that need no exact times. */
const coarseStepMs = 40
const timeoutMs = 5_000
const handoverMs = 250

interface Change {
  readonly afterMs: number
  readonly kind: 'start' | 'stop' | 'kill'
  readonly index: number
}

const changes = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 100, max: 12_000 }),
    kind: fc.constantFrom('start', 'start', 'stop', 'kill'),
    index: fc.nat(4),
  }),
  { maxLength: 6 },
)
/** Delay of the result of a join, in ms: shorter than `handoverMs`, for which a new owner waits. */
const delays = fc.array(fc.integer({ min: 0, max: handoverMs - coarseStepMs }), { minLength: 5, maxLength: 5 })
const drains = fc.integer({ min: 0, max: 4_000 })

interface World {
  readonly partitions: number
  readonly first: number
  readonly delayMs: readonly number[]
  readonly drainMs: number
}

/**
 * Runs a group through the changes. Calls `look` at each step, until 20 s after the last change.
 */
function run(
  { partitions, first, delayMs, drainMs }: World,
  planned: readonly Change[],
  stepMs: number,
  look: (group: ModelGroup, isStable: boolean) => void,
): void {
  const group = new ModelGroup(
    partitions,
    member => delayMs[member % delayMs.length] ?? 0,
    () => drainMs,
  )
  for (let count = 0; count < first; count++) group.start()
  let changedAt = 0
  const advance = (until: number): void => {
    for (let now = group.now + stepMs; now <= until; now += stepMs) {
      group.advanceTo(now)
      look(group, now - changedAt > 18_000)
    }
  }
  for (const { afterMs, kind, index } of planned) {
    advance(group.now + afterMs)
    const running = group.members.filter(({ isRunning }) => isRunning).length
    if (kind === 'start' && group.members.length < 5) group.start()
    else if (kind !== 'start' && running > 1) group.end(index % group.members.length, kind)
    changedAt = group.now
  }
  advance(group.now + 20_000)
}

const worlds = fc.record({
  partitions: fc.integer({ min: 1, max: 24 }),
  first: fc.integer({ min: 1, max: 5 }),
  delayMs: delays,
  drainMs: drains,
})
const running = ({ members }: ModelGroup): readonly Member[] => members.filter(({ isRunning }) => isRunning)
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

it('the parts of a rate never add up to more than the rate, and to all of it when nothing changes', () => {
  fc.assert(
    fc.property(worlds, changes, (world, planned) => {
      run(world, planned, coarseStepMs, (group, isStable) => {
        const total = sum(running(group).map(({ share }) => share.rateAt(group.now)))
        expect(total).toBeLessThanOrEqual(1 + 1e-9)
        if (isStable) expect(total).toBeCloseTo(1)
      })
    }),
    { numRuns: 25 },
  )
})

it('the permits of all processes never exceed the total, with the requests that they had started before', () => {
  fc.assert(
    fc.property(worlds, changes, fc.integer({ min: 1, max: 50 }), fc.nat(), (world, planned, total, rotateBy) => {
      /**
       * The permits of each process in the last five seconds: requests that began then may still be
       * in progress.
       */
      const recent = new Map<Member, { at: number; permits: number }[]>()
      run(world, planned, coarseStepMs, (group, isStable) => {
        for (const member of running(group)) {
          const { permits } = member.share.permitsAt(group.now, total, rotateBy, timeoutMs + handoverMs)
          const kept = (recent.get(member) ?? []).filter(({ at }) => group.now - at < timeoutMs)
          // The test needs only the maximum, so lower earlier numbers are removed.
          recent.set(member, [...kept.filter(each => each.permits > permits), { at: group.now, permits }])
        }
        const inProgress = [...recent.values()].map(all =>
          Math.max(0, ...all.filter(({ at }) => group.now - at < timeoutMs).map(({ permits }) => permits)),
        )
        expect(sum(inProgress)).toBeLessThanOrEqual(total)
        if (isStable) expect(sum(inProgress)).toBe(total)
      })
    }),
    { numRuns: 20 },
  )
})

it('50 attempts per second are at most 60 in any second, and 48 to 52 on average while processes join', () => {
  const joins = fc.array(fc.record({ afterMs: fc.integer({ min: 2_000, max: 9_000 }) }), { maxLength: 4 })
  fc.assert(
    fc.property(
      fc.integer({ min: 5, max: 24 }),
      delays,
      drains,
      joins,
      fc.nat(3),
      (partitions, delayMs, drainMs, each, lateMs) => {
        const planned = each.map(({ afterMs }): Change => ({ afterMs, kind: 'start', index: 0 }))
        const budgets = new Map<Member, { budget: DestinationRateLimit; askAt: number }>()
        const attempts: number[] = []
        run({ partitions, first: 1, delayMs, drainMs }, planned, stepMs, group => {
          for (const member of running(group)) {
            const own = budgets.get(member) ?? { budget: new DestinationRateLimit(), askAt: 0 }
            budgets.set(member, own)
            // This model does not notice changes of its part of the rate, so it checks its part
            // every 50 ms.
            if (group.now < own.askAt) continue
            let wait = own.budget.msToWait(member.share, 50, group.now)
            for (; wait === 0; wait = own.budget.msToWait(member.share, 50, group.now)) {
              own.budget.started()
              attempts.push(group.now)
            }
            own.askAt = group.now + Math.min(wait + lateMs, 50)
          }
        })
        for (let index = 60; index < attempts.length; index++)
          expect((attempts[index] as number) - (attempts[index - 60] as number)).toBeGreaterThanOrEqual(1_000)
        const from = 2_000
        const until = attempts.at(-1) as number
        const mean = attempts.filter(at => at > from).length / ((until - from) / 1_000)
        expect(mean).toBeGreaterThan(48)
        expect(mean).toBeLessThan(52)
      },
    ),
    { numRuns: 25 },
  )
})
