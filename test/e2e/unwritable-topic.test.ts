import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startPipeline, trackEvents } from '../support/process/pipeline.ts'
import { Ledger } from '../support/webhook/ledger.ts'

const closing = closingAfterEach()

describe('a retry topic that rejects records', () => {
  it('keeps source offsets uncommitted, fails readiness and a metric, and recovers when the topic accepts records', async () => {
    const ledger = closing(await Ledger.started({ answers: [503, 200] }))
    const pipeline = closing(
      await startPipeline({
        delivery: { schedule: ['1s'] },
        destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: ledger.url }] }],
      }),
    )
    const admin = closing(await createAdminClient())
    const retry = `${pipeline.topics.events.replace('.events', '')}.retry.1s`
    const service = await pipeline.run()
    await admin.deleteTopic(retry)
    // Too few failures to open a circuit breaker.
    const count = 8
    await pipeline.send(trackEvents(count))
    // A process that has just started can be unready for other reasons.
    await until(async () => {
      const ready = await service.ask('/readyz')
      return ready.status === 503 && ready.text.includes(retry) ? true : undefined
    })
    const metrics = await service.metrics()
    expect(metrics.get('hookline_unwritable_topics')).toBe(1)
    expect(metrics.get(`hookline_produce_failures_total{topic="${retry}"}`)).toBeGreaterThan(0)
    expect(await admin.committed(pipeline.topics.dispatcherGroup, pipeline.topics.events)).toBe(0)
    expect((await service.ask('/livez')).status).toBe(200)

    await pipeline.command('topics', 'apply')
    await ledger.untilDelivered(count)
    await until(async () => ((await service.ask('/readyz')).status === 200 ? true : undefined))
    await until(async () =>
      (await admin.committed(pipeline.topics.dispatcherGroup, pipeline.topics.events)) === count ? true : undefined,
    )
    expect(await service.stop()).toBe(0)
  })
})
