import { describe, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const kills = 10
const events = 4_000

describe('SIGKILL', () => {
  it('ten times under load: every message arrives, duplicates have the same id, and no process starts from the first message again', async () => {
    const receiver = closing(await RecordingReceiver.started({ latency: durationMs(20) }))
    const installation = closing(
      await startInstallation({ destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }] }),
    )
    const admin = closing(await createAdminClient())
    await installation.send(trackEvents(events))
    let service: RunningService = await installation.run()
    for (let kill = 1; kill <= kills; kill++) {
      const soFar = receiver.successes.size
      await receiver.until(() => receiver.successes.size >= Math.min(soFar + events / (kills + 2), events))
      await service.kill()
      service = await installation.run()
    }
    await receiver.untilDelivered(events)

    expect(new Set(receiver.successes.keys())).toEqual(
      new Set(trackEvents(events).map(event => event.message.messageId)),
    )
    // Each kill repeats only deliveries in progress and those since the last commit. A restart from
    // the first message would repeat about 18,000.
    expect(receiver.duplicates).toBeLessThan(kills * 1_000)
    // Wait for repeated deliveries. After that, a new process must deliver nothing.
    const { events: topic, dispatcherGroup } = installation.topics
    await until(async () => ((await admin.committed(dispatcherGroup, topic)) === events ? true : undefined))
    expect(await service.stop()).toBe(0)
    const before = receiver.requests.length
    const next = await installation.run()
    await next.stop()
    expect(receiver.requests.length).toBe(before)
  }, 360_000)
})

describe('SIGTERM', () => {
  it('finishes the requests in progress, delivers nothing twice, and exits with 0', async () => {
    const receiver = closing(await RecordingReceiver.started({ latency: durationMs(300) }))
    const installation = closing(
      await startInstallation({
        delivery: { perWebhook: 16 },
        destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
      }),
    )
    await installation.send(trackEvents(200))
    const first = await installation.run()
    await receiver.until(() => receiver.requests.length >= 40)
    expect(await first.stop()).toBe(0)
    const second = await installation.run()
    await receiver.untilDelivered(200)
    expect(await second.stop()).toBe(0)
    expect(receiver.duplicates).toBe(0)
  })
})
