import { describe, expect, it } from '@jest/globals'
import type { CanarySettings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { CallResult } from '../../../src/core/webhook-ports.ts'
import { answered, DispatcherHarness, destination, ok } from '../../support/dispatcher/harness.ts'

const second = 1_000

async function started(answer: () => CallResult = () => ok, change: Parameters<typeof destination>[1] = {}) {
  const destinations = [destination('crm'), destination('heart', { sources: ['web'], ...change })]
  const harness = await DispatcherHarness.started({ destinations, answer })
  harness.canary = { destination: 'heart', every: durationMs(30 * second) }
  const seen = () => ({
    sent: harness.count('canarySent{}'),
    received: harness.count('canaryReceived{}'),
    timed: harness.count('canarySeconds{}'),
    lost: [...harness.counts].filter(([key]) => key.startsWith('canaryLost')),
  })
  return { harness, seen }
}

describe('canary messages', () => {
  it('are sent repeatedly, only to their destination, and are counted when delivered', async () => {
    const { harness, seen } = await started()
    await harness.advance(5 * second)
    await harness.advance(30 * second)
    await harness.advance(30 * second)
    expect(seen()).toEqual({ sent: 3, received: 3, timed: 3, lost: [] })
    expect(new Set(harness.calls.map(({ call }) => call.url))).toEqual(new Set(['https://heart.example.com/']))
    const bodies = harness.calls.map(({ call }) => JSON.parse(call.body.toString()))
    expect(bodies[0]).toMatchObject({ type: 'track', event: 'Hookline Heartbeat' })
    // The user determines the partition. So each canary message has a different user, and all
    // partitions get canary messages.
    expect(new Set(bodies.map(({ anonymousId }) => anonymousId)).size).toBe(3)
    expect(harness.calls.every(({ call }) => call.headers['X-Message-Id']?.startsWith('canary-'))).toBe(true)
  })

  it('count their latency from the append, retries included', async () => {
    let calls = 0
    const { harness, seen } = await started(() => (calls++ === 0 ? answered(503) : ok))
    await harness.advance(5 * second)
    expect(seen()).toEqual({ sent: 1, received: 0, timed: 0, lost: [] })
    await harness.advance(10 * second)
    expect(seen()).toEqual({ sent: 1, received: 1, timed: 1, lost: [] })
  })

  it.each<[string, CallResult, Parameters<typeof destination>[1], string]>([
    ['refused by the endpoint', answered(404), {}, 'dead_lettered'],
    ['for a disabled destination', ok, { enabled: false }, 'dropped'],
  ])('are counted as lost: %s', async (_, answer, change, reason) => {
    const { harness, seen } = await started(() => answer, change)
    await harness.advance(5 * second)
    expect(seen()).toEqual({ sent: 1, received: 0, timed: 0, lost: [[`canaryLost{${reason}}`, 1]] })
  })

  it('are counted as lost when their destination is removed', async () => {
    const { harness, seen } = await started()
    harness.destinations = [destination('crm')]
    await harness.advance(5 * second)
    // An event for an unknown destination is deferred before it is dead-lettered, because a newer
    // configuration may have the destination.
    harness.canary = undefined
    await harness.advance(100 * second)
    expect(seen().lost).toEqual([['canaryLost{dead_lettered}', 1]])
  })

  it('are counted as lost and logged when Kafka does not store them', async () => {
    const { harness, seen } = await started()
    harness.log.unwritable.add(harness.topics.events)
    await harness.advance(5 * second)
    expect(seen()).toEqual({ sent: 1, received: 0, timed: 0, lost: [['canaryLost{not_stored}', 1]] })
    expect(harness.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        line: 'Kafka did not store a canary message (see "error"), so one check of the path to an endpoint is missing; hookline writes the next canary message after the time in canary.every; if this line repeats, check the Kafka brokers',
      }),
    )
  })

  it('start within seconds of being enabled, and stop when disabled or when the service stops', async () => {
    const { harness, seen } = await started()
    const { canary } = harness
    harness.canary = undefined
    await harness.advance(60 * second)
    expect(seen().sent).toBe(0)
    harness.canary = canary
    await harness.advance(5 * second)
    expect(seen().sent).toBe(1)
    const stopped = harness.service.stop()
    await harness.advance(60 * second)
    await stopped
    expect(seen().sent).toBe(1)
  })

  it.each<[string, Partial<CanarySettings>, string]>([
    ['a shorter interval', { every: durationMs(30 * second) }, 'heart'],
    ['another destination', { destination: 'crm' }, 'crm'],
  ])('follow a change of the settings within five seconds: %s', async (_, change, receiver) => {
    const { harness } = await started()
    const daily = { destination: 'heart', every: durationMs(86_400 * second) }
    harness.canary = daily
    await harness.advance(60 * second)
    harness.canary = { ...daily, ...change }
    await harness.advance(5 * second)
    const urls = harness.calls.map(({ call }) => call.url)
    expect(urls).toEqual(['https://heart.example.com/', `https://${receiver}.example.com/`])
  })

  it('are sent only by the owner of partition 0', async () => {
    const { harness, seen } = await started()
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    await harness.advance(60 * second)
    expect(seen().sent).toBe(0)
  })
})
