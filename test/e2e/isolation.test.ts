import { describe, expect, it, jest } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

/**
 * A hanging request holds its permit (slot for a concurrent request) for 5 s. If the hanging
 * destination held all permits, the other destinations would get almost no request in this time.
 */
const hangMs = 4_500
const minRequests = 300

/**
 * The part of the deliveries to the other destinations that may move to a retry topic. None moves
 * while each of their requests takes at most 100 ms.
 */
const maxDeferredPart = 0.1

// On a busy machine, requests of the other destinations may take longer than 100 ms, so their
// deliveries may move. The test must pass in one of six runs; without the isolation, all fail.
jest.retryTimes(5, { logErrorsBeforeRetry: true })

describe('a destination that accepts connections but never responds', () => {
  it('stops no other destination on the same partitions, with 32 permits in total', async () => {
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
    // The events do not fit into the memory of the process, which keeps at most 2,000. With many more
    // events, deliveries on a busy machine would wait for ten seconds, and could then move too.
    const count = 2_500
    await installation.send(trackEvents(count))
    await well.until(() => well.requests.length >= 3 * count)
    const metrics = await service.metrics()
    expect(hangs.requests).not.toEqual([])
    const start = hangs.requests[0]?.at ?? 0
    expect(well.requests.filter(({ at }) => at - start < hangMs).length).toBeGreaterThan(minRequests)
    const results = (destination: string, result: string): number =>
      metrics.get(`hookline_deliveries_total{destination="${destination}",result="${result}"}`) ?? 0
    for (const n of [1, 2, 3]) {
      expect(results(`well-${n}`, 'delivered')).toBe(count)
      expect(results(`well-${n}`, 'deferred')).toBeLessThan(maxDeferredPart * count)
    }
    expect(results('hangs', 'delivered')).toBe(0)
    expect(results('hangs', 'deferred')).toBeGreaterThan(count / 2)
  })
})
