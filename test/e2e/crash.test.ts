import { describe, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/service-process.ts'
import { durationMs } from '../../src/core/units.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { Ledger } from '../support/webhook/ledger.ts'

const closing = closingAfterEach()
const kills = 10
const events = 4_000

describe('SIGKILL', () => {
  it(`ten times under load: every message arrives, and duplicates have the same id and were in progress at a kill`, async () => {
    const ledger = closing(await Ledger.started({ latency: durationMs(20) }))
    const installation = closing(
      await startInstallation({ destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: ledger.url }] }] }),
    )
    const admin = closing(await createAdminClient())
    await installation.send(trackEvents(events))
    let service: RunningService = await installation.run()
    for (let kill = 1; kill <= kills; kill++) {
      const soFar = ledger.successes.size
      await ledger.until(() => ledger.successes.size >= Math.min(soFar + events / (kills + 2), events))
      await service.kill()
      service = await installation.run()
    }
    await ledger.untilDelivered(events)

    expect(new Set(ledger.successes.keys())).toEqual(new Set(trackEvents(events).map(event => event.message.messageId)))
    // Each kill repeats at most the deliveries in progress and those since the last commit, 250 ms
    // earlier.
    expect(ledger.duplicates).toBeLessThan(kills * 1_000)
    // When everything is committed, a new process has nothing to do. Repeated records would arrive
    // last.
    const { events: topic, dispatcherGroup } = installation.topics
    await until(async () => ((await admin.committed(dispatcherGroup, topic)) === events ? true : undefined))
    expect(await service.stop()).toBe(0)
    const before = ledger.requests.length
    const next = await installation.run()
    await next.stop()
    expect(ledger.requests.length).toBe(before)
  }, 360_000)
})

describe('SIGTERM', () => {
  it('finishes the requests in progress, delivers nothing twice, and exits with 0', async () => {
    const ledger = closing(await Ledger.started({ latency: durationMs(300) }))
    const installation = closing(
      await startInstallation({
        delivery: { perWebhook: 16 },
        destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: ledger.url }] }],
      }),
    )
    await installation.send(trackEvents(200))
    const first = await installation.run()
    await ledger.until(() => ledger.requests.length >= 40)
    expect(await first.stop()).toBe(0)
    const second = await installation.run()
    await ledger.untilDelivered(200)
    expect(await second.stop()).toBe(0)
    expect(ledger.duplicates).toBe(0)
  })
})
