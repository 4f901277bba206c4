import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../src/core/units.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { Ledger } from '../support/webhook/ledger.ts'

const closing = closingAfterEach()

describe('a destination that accepts connections but never responds', () => {
  it('delays no other destination on the same partitions, with 32 permits in total', async () => {
    const hangs = closing(await Ledger.started({ answers: ['hang'] }))
    const well = closing(await Ledger.started())
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
    // Each hanging request holds a permit for 5 s, so the hanging destination must not get most of
    // the 32 permits.
    expect(hangs.requests.length).toBeLessThan(count / 4)
    for (const n of [1, 2, 3])
      expect(metrics.get(`hookline_deliveries_total{destination="well-${n}",result="delivered"}`)).toBe(count)
    expect(metrics.get('hookline_deliveries_total{destination="hangs",result="delivered"}') ?? 0).toBe(0)
  })
})

describe('order', () => {
  it('for one user and destination, a first attempt starts only after the previous one has ended', async () => {
    const latency = 15
    const ledger = closing(await Ledger.started({ latency: durationMs(latency) }))
    const installation = closing(
      await startInstallation({ destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: ledger.url }] }] }),
    )
    const [event] = trackEvents(1)
    const users = 25
    const each = 20
    await installation.send(
      Array.from({ length: users * each }, (_, index) => ({
        ...event!,
        message: {
          ...event!.message,
          userId: `user-${index % users}`,
          messageId: `${index % users}/${Math.floor(index / users)}`,
        },
      })),
    )
    const service = await installation.run()
    await ledger.untilDelivered(users * each)
    const byUser = Map.groupBy(ledger.requests, request => request.messageId?.split('/')[0])
    expect(byUser.size).toBe(users)
    for (const requests of byUser.values()) {
      expect(requests.map(({ messageId }) => Number(messageId?.split('/')[1]))).toEqual(
        Array.from({ length: each }, (_, index) => index),
      )
      const gaps = requests.slice(1).map(({ at }, index) => at - requests[index]!.at)
      // The clock has whole milliseconds, so a gap can look 1 ms shorter.
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(latency - 1)
    }
    expect(await service.stop()).toBe(0)
  })
})
