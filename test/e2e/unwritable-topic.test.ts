import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

describe('a retry topic that rejects records', () => {
  it('keeps source offsets uncommitted, fails readiness and a metric, and recovers when the topic accepts records', async () => {
    const receiver = closing(await RecordingReceiver.started({ answers: [503, 200] }))
    const installation = closing(
      await startInstallation({
        delivery: { schedule: ['1s'] },
        destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
      }),
    )
    const admin = closing(await createAdminClient())
    const retry = `${installation.topics.events.replace('.events', '')}.retry.1s`
    const service = await installation.run()
    await admin.deleteTopic(retry)
    // Eight failed attempts are too few to open the circuit breaker, which would defer deliveries.
    const count = 8
    await installation.send(trackEvents(count))
    // A process that has just started can be unready for other reasons.
    await until(async () => {
      const ready = await service.ask('/readyz')
      return ready.status === 503 && ready.text.includes(retry) ? true : undefined
    })
    const metrics = await service.metrics()
    expect(metrics.get('hookline_unwritable_topics')).toBe(1)
    expect(metrics.get(`hookline_produce_failures_total{topic="${retry}"}`)).toBeGreaterThan(0)
    expect(await admin.committed(installation.topics.dispatcherGroup, installation.topics.events)).toBe(0)
    expect((await service.ask('/livez')).status).toBe(200)

    await installation.command('topics', 'apply')
    await receiver.untilDelivered(count)
    await until(async () => ((await service.ask('/readyz')).status === 200 ? true : undefined))
    await until(async () =>
      (await admin.committed(installation.topics.dispatcherGroup, installation.topics.events)) === count
        ? true
        : undefined,
    )
    expect(await service.stop()).toBe(0)
  })
})
