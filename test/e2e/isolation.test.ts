import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

describe('a destination that accepts connections but never responds', () => {
  it('delays no other destination on the same partitions, with 32 permits in total', async () => {
    const hangs = closing(await RecordingReceiver.started({ answers: ['hang'] }))
    const well = closing(await RecordingReceiver.started())
    const installation = closing(
      await startInstallation({
        delivery: { maxInFlight: 32, perWebhook: 32, perHost: 32, schedule: [] },
        destinations: [
          { id: 'hangs', sources: ['web'], webhooks: [{ url: hangs.url }] },
          ...[1, 2, 3].map(n => ({ id: `well-${n}`, sources: ['web'], webhooks: [{ url: `${well.url}/${n}` }] })),
        ],
      }),
    )
    const service = await installation.run()
    const count = 4_000
    await installation.send(trackEvents(count))
    await well.until(() => well.requests.length >= 3 * count)
    const metrics = await service.metrics()
    // Each hanging request holds a permit (slot for a concurrent request) for 5 s. If the hanging
    // destination held most of the 32 permits, the other destinations would wait for them.
    expect(hangs.requests.length).toBeLessThan(count / 4)
    for (const n of [1, 2, 3])
      expect(metrics.get(`hookline_deliveries_total{destination="well-${n}",result="delivered"}`)).toBe(count)
    expect(metrics.get('hookline_deliveries_total{destination="hangs",result="delivered"}') ?? 0).toBe(0)
  })
})
