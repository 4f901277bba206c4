import { describe, expect, it } from '@jest/globals'
import { type AttemptRecord, decodeAttempt } from '../../src/core/delivery/attempt-facts-and-record.ts'
import { flowLimits } from '../../src/core/flow/flow-control-constants.ts'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const { neverSlowMs } = flowLimits.concurrency
const { slowAfterMs } = flowLimits.spillover

const closing = closingAfterEach()

/**
 * Time in ms in which the other destinations must get more than `minRequests` requests. This time
 * ends before a hanging request frees its permit, after 5 s.
 */
const hangMs = 4_500
const minRequests = 150

/**
 * Returns the first slow time from `since` on. Slow time begins when an attempt has lasted
 * `neverSlowMs`. It ends with the first attempt started after the end of this attempt.
 */
function slowFrom(attempts: readonly AttemptRecord[], since: number): number {
  const ordered = attempts.toSorted((one, other) => one.at - other.at)
  const times = ordered.flatMap(({ at, elapsedMs }) => {
    const next = ordered.find(later => later.at >= at + elapsedMs)
    const until = next === undefined ? Number.POSITIVE_INFINITY : next.at + next.elapsedMs
    return elapsedMs >= neverSlowMs && until >= since ? [Math.max(since, at + neverSlowMs)] : []
  })
  return Math.min(...times)
}

describe('a destination that accepts connections but never responds', () => {
  it('stops no other destination on the same partitions, with 32 permits in total', async () => {
    const hangs = closing(await RecordingReceiver.started({ answers: ['hang'] }))
    const well = closing(await RecordingReceiver.started())
    const others = ['well-1', 'well-2']
    const installation = closing(
      await startInstallation({
        delivery: { maxInFlight: 32, perWebhook: 32, perHost: 32, schedule: [], attemptsTopic: 'all' },
        destinations: [
          { id: 'hangs', sources: ['web'], webhooks: [{ url: hangs.url }] },
          ...others.map(id => ({ id, sources: ['web'], webhooks: [{ url: `${well.url}/${id}` }] })),
        ],
      }),
    )
    const service = await installation.run()
    // The events exceed the 2,000 that the process keeps in memory.
    const count = 2_500
    const sentAt = Date.now()
    await installation.send(trackEvents(count))
    await well.until(() => well.requests.length >= others.length * count)
    const metrics = await service.metrics()
    const results = (destination: string, result: string): number =>
      metrics.get(`hookline_deliveries_total{destination="${destination}",result="${result}"}`) ?? 0
    expect(results('hangs', 'delivered')).toBe(0)
    expect(results('hangs', 'deferred')).toBeGreaterThan(count / 2)

    const { topics, read } = installation
    const attempts = (await read(topics.attempts)).flatMap(({ value }) => decodeAttempt(String(value)) ?? [])
    const attemptsOf = (id: string): readonly AttemptRecord[] =>
      attempts.filter(({ destination }) => destination === id)
    const start = Math.min(...attemptsOf('hangs').map(({ at }) => at))
    const isDuringHang = (at: number): boolean => at - start < hangMs
    expect(well.requests.filter(({ at }) => isDuringHang(at)).length).toBeGreaterThan(minRequests)
    const moved = await read(topics.retry(durationMs(10_000)))
    for (const id of others) {
      expect(results(id, 'delivered')).toBe(count)
      const slowAt = slowFrom(attemptsOf(id), sentAt + slowAfterMs)
      // A delivery of another destination moves to a retry topic only if the attempts of that
      // destination are slow.
      const unexpected = moved.filter(
        ({ headers, timestamp }) => headers['destination'] === id && isDuringHang(timestamp) && timestamp < slowAt,
      )
      expect(unexpected.length).toBe(0)
    }
  })
})
