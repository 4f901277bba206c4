import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { AudiencesHarness, type Fate } from '../../../support/audience/harness.ts'
import { ended, observed } from '../../../support/audience/partition-harness.ts'

const users = ['ann', 'bob', 'cem', 'dee', 'eve']

type Step =
  | { readonly kind: 'sync'; readonly members: readonly string[]; readonly isEnded: boolean }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'kill'; readonly afterWrites: number; readonly isCompacted: boolean }
  | { readonly kind: 'commit'; readonly isCommitting: boolean }
  | { readonly kind: 'rebalance' }

const members = fc.subarray(users)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sync' as const), members, isEnded: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(200) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('kill' as const),
      afterWrites: fc.integer({ min: 1, max: 25 }),
      isCompacted: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('commit' as const), isCommitting: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rebalance' as const }) },
)
const fate: fc.Arbitrary<Fate> = fc.constantFrom('delivered', 'delivered', 'delivered', 'undelivered', 'silent')

/** The last value that the receiver got for each user, without repeated and lost messages. */
function lastValues(harness: AudiencesHarness, fates: ReadonlyMap<string, Fate>): ReadonlyMap<string, string> {
  const seen = new Set<string>()
  const values = new Map<string, string>()
  for (const { id, userId, value } of harness.sent()) {
    if (seen.has(id) || fates.get(id) === 'undelivered') continue
    seen.add(id)
    values.set(userId, value)
  }
  return values
}

it('the receiver has the last full sync after kills between any two writes, rebalances and lost commits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.array(fate, { minLength: 1 }),
      members,
      async (steps, given, last) => {
        const fates = new Map<string, Fate>()
        const harness = await AudiencesHarness.started({
          partitions: 2,
          emitPerSecond: 200,
          fate: ({ id }) => {
            const known = fates.get(id) ?? given[fates.size % given.length] ?? 'delivered'
            fates.set(id, known)
            return known
          },
        })
        let syncs = 0
        const sync = (named: readonly string[], isEnded: boolean): void => {
          syncs++
          harness.write(...named.map(user => observed(user, syncs)), ...(isEnded ? [ended(syncs)] : []))
        }
        for (const each of steps) {
          if (each.kind === 'sync') sync(each.members, each.isEnded)
          else if (each.kind === 'pass') await harness.advance(each.ms)
          else if (each.kind === 'commit') harness.consumer.isCommitting = each.isCommitting
          else if (each.kind === 'rebalance') harness.consumer.rebalance()
          else {
            harness.writesLeft = each.afterWrites
            await harness.advance(100)
            harness.reader = harness.log.reader({ isCompacted: each.isCompacted })
            await harness.restart()
          }
        }
        harness.consumer.isCommitting = true
        await harness.advance(2_000)
        // The clock moves by more than 7 days, after which a sync resends changes that have no
        // result. In the 6 hours after that, the process finds states that earlier owners wrote
        // late.
        given.splice(0, given.length, 'delivered')
        harness.clock.step(8 * 24 * 3_600_000)
        await harness.advance(6 * 3_600_000)
        sync(last, true)
        await harness.advance(2_000)
        sync(last, true)
        await harness.advance(2_000)

        const values = lastValues(harness, fates)
        for (const user of users)
          expect([user, values.get(user) ?? 'false']).toEqual([user, String(last.includes(user))])
        const before = harness.sent().length
        sync(last, true)
        await harness.advance(2_000)
        expect(harness.sent().length).toBe(before)
        for (const partition of [0, 1])
          expect(harness.committed(partition)).toBe(
            harness.log.records(harness.topics.audienceInput).filter(record => record.partition === partition).length,
          )
      },
    ),
    { numRuns: 90 },
  )
}, 600_000)
