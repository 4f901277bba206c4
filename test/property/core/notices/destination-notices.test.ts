import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { DestinationFacts } from '../../../../src/core/notices/destination-facts.ts'
import { DestinationNotices } from '../../../../src/core/notices/destination-notices.ts'
import type { Notice } from '../../../../src/core/notices/notice.ts'
import { epochMs } from '../../../../src/core/time.ts'

const facts: fc.Arbitrary<DestinationFacts> = fc.record({
  destination: fc.constant('crm'),
  health: fc.constantFrom('failing', 'recovered', undefined),
  outcomes: fc.constant([]),
  gone: fc.subarray(['0', '1']),
  deadLetters: fc.dictionary(fc.constantFrom('http_4xx', 'retries_exhausted'), fc.integer({ min: 1, max: 9 })),
})
const steps = fc.array(
  fc.record({ wait: fc.integer({ min: 0, max: 90_000 }), facts: fc.option(facts, { nil: undefined }) }),
  { maxLength: 60 },
)
type Steps = ReturnType<typeof steps.generate>['value']
interface Sent {
  readonly at: number
  readonly notice: Notice
}

/** Returns the sent notices, including those of the hour after the last step. */
function sentIn(all: Steps): readonly Sent[] {
  const notices = new DestinationNotices('crm')
  let at = 1_000_000
  const take = (): Sent[] => notices.takeDue(epochMs(at)).map(notice => ({ at, notice }))
  const sent = all.flatMap(step => {
    at += step.wait
    if (step.facts !== undefined) notices.observe(step.facts, `facts-${at}`, epochMs(at))
    return take()
  })
  at += 3_600_000
  return [...sent, ...take()]
}

const total = (counts: readonly DestinationFacts['deadLetters'][]): number =>
  counts.flatMap(each => Object.values(each)).reduce((sum, count) => sum + count, 0)

describe('whatever the processes observe', () => {
  it('at most one notice of each kind is sent in a minute', () => {
    fc.assert(
      fc.property(steps, all => {
        const last = new Map<string, number>()
        for (const { at, notice } of sentIn(all)) {
          expect(at - (last.get(notice.kind) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(60_000)
          last.set(notice.kind, at)
        }
      }),
    )
  })

  it('every dead letter is counted in exactly one notice', () => {
    fc.assert(
      fc.property(steps, all => {
        const reasons = sentIn(all).flatMap(({ notice }) => (notice.kind === 'dead_lettered' ? [notice.reasons] : []))
        expect(total(reasons)).toBe(total(all.map(step => step.facts?.deadLetters ?? {})))
      }),
    )
  })

  it('the last notice about the health says what the last facts say', () => {
    fc.assert(
      fc.property(steps, all => {
        const observed = all.map(step => step.facts?.health).filter(health => health !== undefined)
        const reported = sentIn(all)
          .map(({ notice }) => notice.kind)
          .filter(kind => kind === 'failing' || kind === 'recovered')
        expect(reported.at(-1)).toBe(observed.at(-1))
      }),
    )
  })
})
