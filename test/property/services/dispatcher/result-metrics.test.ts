import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { tiersOf } from '../../../../src/core/topics.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'

/*
 * Each consumed record has exactly one result per destination, and all metrics of results have the
 * same sums.
 */

const hour = 3_600_000
const destinations = [
  destination('crm'),
  destination('erp', { sources: ['web'] }),
  destination('off', { enabled: false }),
]

/**
 * Number of results by kind of record: one for each of the three destinations of `web`, otherwise
 * one.
 */
const sorts = {
  valid: 3,
  unknownSource: 1,
  unknownDestination: 1,
  narrowed: 1,
  notSelected: 3,
  damaged: 1,
  empty: 1,
} as const
type Sort = keyof typeof sorts

const scripts: readonly (readonly CallResult[])[] = [
  [ok],
  [answered(404)],
  [answered(503), ok],
  [answered(500)],
  [answered(429, '20'), answered(503), ok],
  [answered(429, '99999')],
  [{ kind: 'failed', phase: 'connect', code: 'ECONNREFUSED', detail: '' }, ok],
]

function write(harness: DispatcherHarness, sort: Sort, index: number): void {
  const message = trackMessage(`m-${index}`, { userId: `u-${index % 3}` })
  const event = (more: Partial<Event>): void => harness.write({ message, ...more })
  switch (sort) {
    case 'valid':
      return event({})
    case 'unknownSource':
      return event({ sourceId: 'nobody' })
    case 'unknownDestination':
      return event({ destinationId: 'nobody' })
    case 'narrowed':
      return event({ destinationId: 'erp' })
    case 'notSelected':
      return event({ message: { ...message, integrations: '{"All":false}' as JsonText } })
    case 'damaged':
      return harness.log.write(harness.topics.events, Buffer.from('{'))
    case 'empty':
      return harness.log.write(harness.topics.events, null)
  }
}

function total(harness: DispatcherHarness, name: string, which = /./): number {
  const own = [...harness.counts].filter(([key]) => key.startsWith(`${name}{`) && which.test(key))
  return own.reduce((sum, [, value]) => sum + value, 0)
}

const steps = fc.array(
  fc.record({
    sort: fc.constantFrom(...(Object.keys(sorts) as Sort[])),
    waitMs: fc.constantFrom(0, 0, 50, 5_000, 60_000),
    rebalances: fc.constantFrom(false, false, false, true),
    looks: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
)

describe('results', () => {
  it('are one per record and destination, for any responses and rebalances', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.nat(scripts.length - 1), { minLength: 1, maxLength: 6 }),
        async (each, picks) => {
          const tries = new Map<string, number>()
          const answer = ({ headers, url }: { headers: Readonly<Record<string, string>>; url: string }): CallResult => {
            const key = `${url} ${headers['X-Message-Id']}`
            const attempt = tries.get(key) ?? 0
            tries.set(key, attempt + 1)
            const which = [...key].reduce((sum, char) => sum + char.charCodeAt(0), 0)
            const script = scripts[picks[which % picks.length] ?? 0] ?? [ok]
            return script[Math.min(attempt, script.length - 1)] ?? ok
          }
          const harness = await DispatcherHarness.started({ destinations, answer })
          for (const [index, { sort, waitMs, rebalances, looks }] of each.entries()) {
            write(harness, sort, index)
            await harness.advance(waitMs)
            // `advance` has committed all finished records, so the rebalance repeats none of them.
            if (rebalances) harness.retries.rebalance()
            if (looks) harness.service.refreshGauges()
          }
          for (let hours = 0; hours < 5; hours++) await harness.advance(hour)
          harness.service.refreshGauges()

          const due = each.reduce((sum, { sort }) => sum + sorts[sort], 0)
          const dropped = total(harness, 'drops')
          const ends =
            total(harness, 'deliveries', /delivered|dead_lettered/) + total(harness, 'deadLetters', /\{-,/) + dropped
          expect(ends).toBe(due)
          expect(total(harness, 'deadLetters')).toBe(harness.log.records(harness.topics.deadLetter).length)
          expect(harness.lines.filter(({ line }) => line === 'delivery dropped')).toHaveLength(dropped)

          const retryRecords = tiersOf(defaultSchedule).flatMap(tier => harness.log.records(harness.topics.retry(tier)))
          expect(total(harness, 'deliveries', /retried|deferred/)).toBe(retryRecords.length)
          expect(total(harness, 'parked')).toBe(retryRecords.length)
          expect(total(harness, 'recordsFinished', /dispatcher,done/)).toBe(each.length)
          expect(total(harness, 'recordsFinished', /retries,done/)).toBe(retryRecords.length)
          expect(total(harness, 'recordsConsumed')).toBe(total(harness, 'recordsFinished'))
          expect(harness.count('recordsOpen{}')).toBe(0)
        },
      ),
      { numRuns: 60 },
    )
  }, 600_000)
})
