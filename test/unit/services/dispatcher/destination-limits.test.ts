import { describe, expect, it } from '@jest/globals'
import type { Destination, DestinationPolicy } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const second = 1_000

const send = (harness: DispatcherHarness, count: number, prefix = 'm'): void => {
  for (let index = 0; index < count; index++)
    harness.write({ message: trackMessage(`${prefix}-${index}`, { userId: `${prefix}-user-${index}` }) })
}

const limited = (policy: DestinationPolicy): ReturnType<typeof destination> => destination('crm', { policy })

/** The number of requests in each second since `startedAt`, to URLs that contain `of`. */
const perSecond = (harness: DispatcherHarness, startedAt: number, seconds: number, of = ''): readonly number[] => {
  const counts = Array<number>(seconds).fill(0)
  for (const { at, call } of harness.calls) {
    if (!call.url.includes(of)) continue
    const second = Math.floor((at - startedAt) / 1_000)
    counts[second] = (counts[second] ?? 0) + 1
  }
  return counts
}

describe('ratePerSecond', () => {
  it('makes 50 attempts per second of a backlog, evenly spread, and uses up no attempt of those that wait', async () => {
    const harness = await DispatcherHarness.started({ destinations: [limited({ ratePerSecond: 50 })] })
    await harness.advance(second)
    const startedAt = harness.clock.now()
    send(harness, 400)
    await harness.advance(10 * second)
    // The process was idle, so the first second also has a burst of about 5 attempts, the number
    // for 100 ms.
    expect(perSecond(harness, startedAt, 8)).toEqual([54, 50, 50, 50, 50, 50, 50, 46])
    expect(harness.count('deliveries{crm,delivered}')).toBe(400)
    expect(harness.count('deliveries{crm,retried}')).toBe(0)
  })

  it('has effect at the next attempt after a reload, when it is added, raised and removed', async () => {
    const harness = await DispatcherHarness.started({ destinations: [limited({ ratePerSecond: 1 })] })
    await harness.advance(second)
    send(harness, 1_000)
    await harness.advance(10 * second)
    expect(harness.calls.length).toBeLessThanOrEqual(12)
    harness.destinations = [limited({ ratePerSecond: 20 })]
    await harness.advance(2 * second)
    const before = harness.calls.length
    await harness.advance(10 * second)
    expect(harness.calls.length - before).toBe(200)
    harness.destinations = [limited({})]
    await harness.advance(second)
    expect(harness.calls).toHaveLength(1_000)
  })

  it('holds for first attempts and retries together', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [limited({ ratePerSecond: 5 })],
      answer: ({ headers }) => (headers['X-Attempt'] === '1' ? answered(500) : ok),
    })
    await harness.advance(second)
    const startedAt = harness.clock.now()
    send(harness, 30)
    await harness.advance(11 * second)
    send(harness, 30, 'later')
    await harness.advance(9 * second)
    for (const count of perSecond(harness, startedAt, 20)) expect(count).toBeLessThanOrEqual(6)
  })
})

describe('a backlog of a limited destination', () => {
  const identify = trackMessage('other', { type: 'identify', userId: 'other' })
  const types = (type: 'track' | 'identify'): Partial<Destination> => ({ filter: { types: [type] } })

  it('delays no record of another destination that is read after it', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [
        destination('crm', { policy: { ratePerSecond: 1 }, ...types('track') }),
        destination('erp', types('identify')),
      ],
    })
    await harness.advance(second)
    send(harness, 6_000)
    harness.write({ message: identify })
    await harness.advance(20 * second)
    expect(harness.count('deliveries{erp,delivered}')).toBe(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(20)
  })

  it('delays no retry of another destination, also after its own retry window', async () => {
    const policy = { ratePerSecond: 1, window: durationMs(60 * second), schedule: [] }
    let status = 200
    const harness = await DispatcherHarness.started({
      destinations: [limited(policy), destination('erp')],
      answer: ({ url }) => (url.includes('erp') ? answered(status) : ok),
    })
    await harness.advance(second)
    send(harness, 3_000)
    await harness.advance(120 * second)
    status = 500
    send(harness, 1, 'late')
    await harness.advance(second)
    status = 200
    await harness.advance(11 * second)
    expect(harness.count('deliveries{erp,delivered}')).toBe(3_001)
    expect(harness.count('deliveries{crm,dead_lettered}')).toBe(0)
    expect(harness.count('deliveries{crm,delivered}')).toBeGreaterThan(110)
  })

  it('uses at least four fifths of the rate while most of it waits in retry topics', async () => {
    const harness = await DispatcherHarness.started({
      partitions: 12,
      destinations: [limited({ ratePerSecond: 50 }), destination('erp')],
    })
    await harness.advance(second)
    const startedAt = harness.clock.now()
    send(harness, 5_000)
    await harness.advance(60 * second)
    // Deferred deliveries return from the retry topic only after 10 s.
    const counts = perSecond(harness, startedAt, 60, 'crm').slice(12)
    expect(Math.max(...counts)).toBeLessThanOrEqual(55)
    expect(counts.reduce((sum, count) => sum + count) / counts.length).toBeGreaterThan(40)
    expect(harness.count('deferrals{lane_full}')).toBeGreaterThan(4_000)
    await harness.advance(90 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBe(5_000)
  })
})

describe('maxConcurrency', () => {
  it('limits the requests in progress, and starts the next one when one has ended', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [limited({ maxConcurrency: 3 })],
      answer: (_, at) => (at > 0 ? 'never' : ok),
    })
    send(harness, 10)
    await harness.advance(5 * second)
    // A new owner of the partition first sends nothing, because requests of the earlier owner may
    // be in progress.
    expect(harness.calls).toHaveLength(0)
    await harness.advance(second)
    expect(harness.calls).toHaveLength(3)
  })
})

describe('maxConcurrency with several processes', () => {
  it('defers deliveries of a process without a permit to another one, without an attempt', async () => {
    const policy = { maxConcurrency: 1 }
    const destinations = ['crm', 'erp'].map(id => destination(id, { policy }))
    const harness = await DispatcherHarness.started({ destinations })
    // A destination has one permit, which belongs to one of the four partitions. This process owns
    // the partition with the permit of `crm`, but not the one with the permit of `erp`.
    harness.partitions = 4
    await harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.advance(6 * second)
    send(harness, 20)
    await harness.advance(second)
    const results = destinations.map(({ id }) => [
      harness.count(`deliveries{${id},delivered}`),
      harness.count(`deliveries{${id},deferred}`),
    ])
    expect(results).toEqual([
      [20, 0],
      [0, 20],
    ])
  })

  it('moves a delivery less and less often, through each of the four shortest retry topics', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('erp', { policy: { maxConcurrency: 1 } })],
    })
    harness.partitions = 4
    const moved = async (seconds: number): Promise<number> => {
      const before = harness.count('deferrals{lane_full}')
      await harness.advance(seconds * second)
      return harness.count('deferrals{lane_full}') - before
    }
    await harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await moved(6)
    send(harness, 20)
    // In the first minute, each delivery moves to a retry topic about every 10 s.
    expect(await moved(60)).toBeGreaterThan(20 * 5)
    expect(await moved(20 * 60)).toBeLessThan(20 * 30)
    expect(['10s', '30s', '1m', '5m'].every(tier => harness.written(`hookline.retry.${tier}`).length >= 20)).toBe(true)
    expect(await moved(20 * 60)).toBeLessThanOrEqual(20 * 4)
    expect(harness.count('deliveries{erp,dead_lettered}')).toBe(0)
  })

  it('leaves the attempts to others when the process owns no partition of the events topic', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [limited({ ratePerSecond: 50 })],
      answer: () => answered(500),
    })
    await harness.advance(second)
    send(harness, 1)
    await harness.advance(second)
    expect(harness.count('deliveries{crm,retried}')).toBe(1)
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    await harness.advance(25 * second)
    expect(harness.calls).toHaveLength(1)
    expect(harness.count('deferrals{lane_full}')).toBe(2)
  })
})

describe('429', () => {
  /** Responds to the first request with 429 and this Retry-After, and accepts all others. */
  const firstPaused = ({ calls }: DispatcherHarness, retryAfter: string) =>
    calls.length === 1 ? answered(429, retryAfter) : ok

  it('pauses all deliveries of the destination until Retry-After, without an attempt', async () => {
    const harness = await DispatcherHarness.started({ answer: () => firstPaused(harness, '8') })
    send(harness, 1, 'first')
    await harness.advance(second)
    send(harness, 20)
    await harness.advance(5.9 * second)
    harness.service.refreshGauges()
    expect(harness.count('destinationPaused{crm}')).toBeCloseTo(1, 0)
    await harness.advance(second)
    expect(harness.calls).toHaveLength(1)
    await harness.advance(2 * second)
    expect(harness.calls.length).toBeGreaterThan(1)
    expect(harness.count('deferrals{not_before}')).toBe(0)
    harness.service.refreshGauges()
    expect(harness.count('destinationPaused{crm}')).toBe(0)
  })

  it.each([{ ratePerSecond: 100 }, { maxConcurrency: 50 }, { ratePerSecond: 50, maxConcurrency: 50 }])(
    'pauses and slows down a destination whose own limits are not used up, too: %j',
    async policy => {
      const harness = await DispatcherHarness.started({
        destinations: [limited(policy)],
        answer: () => answered(429, harness.calls.length === 1 ? '8' : undefined),
      })
      await harness.advance(6 * second)
      send(harness, 1, 'first')
      await harness.advance(second)
      send(harness, 300)
      await harness.advance(6.9 * second)
      expect(harness.calls).toHaveLength(1)
      await harness.advance(20 * second)
      expect(harness.calls.length).toBeGreaterThan(1)
      expect(harness.calls.length).toBeLessThan(100)
    },
  )

  it('defers deliveries during a pause of more than ten seconds, and delivers them after it', async () => {
    const harness = await DispatcherHarness.started({ answer: () => firstPaused(harness, '60') })
    send(harness, 1, 'first')
    await harness.advance(second + 0.375)
    send(harness, 20)
    await harness.advance(second)
    expect(harness.count('deferrals{not_before}')).toBe(20)
    await harness.advance(57 * second)
    expect(harness.calls).toHaveLength(1)
    await harness.advance(90 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBe(21)
    expect(harness.count('deliveries{crm,retried}')).toBe(1)
  })

  it('pauses for at most five minutes', async () => {
    const harness = await DispatcherHarness.started({ answer: () => firstPaused(harness, '3600') })
    send(harness, 1, 'first')
    await harness.advance(second)
    send(harness, 1)
    await harness.advance(6 * 60 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBe(1)
  })

  it.each(['290', '300', '600'])('keeps the pace after a Retry-After of %s s', async retryAfter => {
    const harness = await DispatcherHarness.started({ answer: () => answered(429, retryAfter), latencyMs: () => 100 })
    send(harness, 300)
    await harness.advance(second)
    expect(harness.calls).toHaveLength(50)
    await harness.advance(1_300 * second)
    // After the first 50 attempts, four pauses have ended, and one or two attempts have followed
    // each pause.
    expect([54, 55, 56, 57, 58]).toContain(harness.calls.length)
  })

  it('opens no circuit breaker, slows the destination down, and dead-letters nothing', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(429) })
    send(harness, 500)
    await harness.advance(60 * second)
    expect(harness.gauge('breakersOpen{crm}')).toBeUndefined()
    expect(harness.count('deliveries{crm,dead_lettered}')).toBe(0)
    // At the first 429, up to 50 requests were in progress. Then at most one per second starts.
    expect(harness.calls.length).toBeLessThanOrEqual(80)
    harness.service.refreshGauges()
    expect(harness.count('destinationPace{crm}')).toBeGreaterThan(0)
    expect(harness.lines.filter(({ line }) => line.startsWith('endpoint responded with 429'))).toHaveLength(1)
  })

  it('opens the circuit breaker when other failures are the cause', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503, '1') })
    send(harness, 500)
    await harness.advance(20 * second)
    expect(harness.lines.some(({ line }) => line.startsWith('circuit breaker opened'))).toBe(true)
  })
})
