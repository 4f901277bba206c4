import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ResultCounts } from '../../../../src/core/live-status/result-counts-of-this-process.ts'
import { createStatusWriter } from '../../../../src/services/live-status/status-writer.ts'
import { StatusTopic } from '../../../support/live-status/memory-status-topic.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const ids = ['crm', 'erp', 'billing'] as const
const kinds = ['delivered', 'failed', 'deadLettered', 'dropped'] as const
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('count'), id: fc.constantFrom(...ids), of: fc.constantFrom(...kinds) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1_000, 5_000, 60_000, 900_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut'), isAnswering: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('answer'),
      how: fc.constantFrom('stored', 'failed', 'stored_and_failed'),
    }),
  },
)

it('the sum over all periods is what was counted, whatever happens to the writes', async () => {
  const run = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
    const clock = new ManualClock()
    const topic = new StatusTopic(() => clock.now())
    const results = new ResultCounts()
    const writer = createStatusWriter({
      ...{ instance: 'pod-1', services: ['dispatcher'], version: '1.2.3', topic: 't', producer: topic, clock },
      ...{ logger: silent, metrics: { statusRecords: { inc() {}, withLabels: () => ({ inc() {} }) } } },
    })
    writer.include({ results, activityOf: () => undefined, partitions: () => 1 })
    writer.start()
    const counted = new Map(ids.map(id => [id, { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }]))
    for (const each of steps) {
      if ('id' in each) {
        results.of(each.id)[each.of]++
        counted.get(each.id)![each.of]++
      } else if ('ms' in each) await clock.advance(each.ms)
      else if ('how' in each) topic.answer(each.how as 'stored')
      else topic.isAnswering = each.isAnswering
    }
    topic.answer('failed')
    topic.isAnswering = true
    await clock.advance(10_000)
    await writer.stop()
    for (const [id, counts] of counted) expect(topic.sums.resultsOf(id, clock.now()).lastDay).toMatchObject(counts)
  })
  // All results are within the last day: a case has at most 30 steps of at most 15 minutes.
  await fc.assert(run, { numRuns: 30 })
})
