import { describe, expect, it } from '@jest/globals'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'

const hour = 3_600_000

describe('offsets', () => {
  it('are committed up to the first record that is not done', async () => {
    const never = new Set(['m2'])
    const harness = await DispatcherHarness.started({
      answer: call => (never.has(call.headers['X-Message-Id']!) ? 'never' : ok),
    })
    for (const id of ['m1', 'm2', 'm3']) harness.write({ message: trackMessage(id, { userId: id }) })
    await harness.advance(1)
    expect(harness.calls).toHaveLength(3)
    expect(harness.log.committed('live', harness.topics.events)).toBe(1)
  })

  it('wait for a retry topic that is not writable; readiness and a metric report it, and it recovers by itself', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    harness.log.unwritable.add(harness.topics.retry(defaultSchedule[0]!))
    harness.write({ message: trackMessage('m1') })
    await harness.advance(60_000)
    expect(harness.log.committed('live', harness.topics.events)).toBe(0)
    expect(harness.count('produceFailures{hookline.retry.10s}')).toBeGreaterThan(3)
    expect(harness.service.health().ready).toContainEqual(expect.objectContaining({ name: 'topics', ok: false }))
    expect(harness.service.health().ready.find(check => !check.ok)?.detail).toContain('hookline.retry.10s')

    harness.log.unwritable.clear()
    await harness.advance(15_000)
    expect(harness.log.committed('live', harness.topics.events)).toBe(1)
    expect(harness.service.health().ready.every(check => check.ok)).toBe(true)
    expect(harness.calls.length).toBe(1)
  })

  it('of a revoked partition are not advanced by requests that end later', async () => {
    const harness = await DispatcherHarness.started({
      answer: () => (harness.calls.length === 1 ? answered(500) : 'never'),
    })
    harness.log.unwritable.add(harness.topics.retry(defaultSchedule[0]!))
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    harness.live.rebalance()
    harness.log.unwritable.clear()
    await harness.advance(60_000)
    // The new assignment has read the record again and sent its request. The old assignment has
    // written no retry record.
    expect(harness.calls).toHaveLength(2)
    expect(harness.log.committed('live', harness.topics.events)).toBe(0)
    expect(harness.log.records(harness.topics.retry(defaultSchedule[0]!))).toEqual([])
  })

  it('are repeated and not lost when the process is killed', async () => {
    const harness = await DispatcherHarness.started({ answer: () => (harness.calls.length <= 2 ? 'never' : ok) })
    for (const id of ['m1', 'm2', 'm3']) harness.write({ message: trackMessage(id, { userId: id }) })
    await harness.advance(1)
    await harness.restart()
    await harness.advance(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(3)
    // The third delivery is not repeated, because the commit metadata marks its record as done.
    expect(new Set(harness.calls.slice(3).map(({ call }) => call.headers['X-Message-Id']))).toEqual(
      new Set(['m1', 'm2']),
    )
  })
})

describe('several webhooks', () => {
  const webhookAt = (label: string, index: number) => ({
    ...webhookOf(index),
    label,
    url: `https://${label}.example.com/`,
  })
  const webhooks = ['a', 'b', 'c'].map(webhookAt)
  const hostOf = (url: string): string => new URL(url).hostname[0]!

  it('one success is enough; the others are not retried', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks })],
      answer: call => (hostOf(call.url) === 'b' ? ok : answered(500)),
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    expect(harness.calls).toHaveLength(3)
    expect(harness.count('webhookCalls{crm,a,http_5xx}')).toBe(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(1)
  })

  it('an endpoint that never responds does not delay a success', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks })],
      answer: call => (hostOf(call.url) === 'c' ? ok : 'never'),
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(1)
  })

  it('a webhook that rejected the event is left out of the retries', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks })],
      answer: call => (hostOf(call.url) === 'a' ? answered(404) : answered(500)),
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    expect(harness.calls.filter(({ call }) => hostOf(call.url) === 'a')).toHaveLength(1)
    expect(harness.calls.filter(({ call }) => hostOf(call.url) === 'b')).toHaveLength(10)
  })
})

describe('live configuration', () => {
  it('a paused destination gets no request; its deliveries wait in retry topics and are dead-lettered at the end of the window', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', { paused: true })] })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    expect(harness.calls).toEqual([])
    expect(harness.log.records(harness.topics.deadLetter)[0]?.headers['reason']).toBe('retry_window_over')
    const stays = harness.count('deferrals{paused}')
    expect(stays).toBeGreaterThan(4)
    expect(stays).toBeLessThan(60)
  })

  it('a resumed destination gets the waiting deliveries', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', { paused: true })] })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(hour)
    harness.destinations = [destination('crm')]
    await harness.advance(hour)
    expect(harness.calls).toHaveLength(1)
  })
})

describe('order and limits', () => {
  it("one user's first attempts do not overtake each other; another user's do not wait", async () => {
    const harness = await DispatcherHarness.started({ answer: () => (harness.calls.length === 1 ? 'never' : ok) })
    harness.write({ message: trackMessage('a1', { userId: 'a' }) })
    harness.write({ message: trackMessage('a2', { userId: 'a' }) })
    harness.write({ message: trackMessage('b1', { userId: 'b' }) })
    await harness.advance(1)
    expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(['a1', 'b1'])
  })

  it('a failed first attempt blocks no delivery once its retry is scheduled', async () => {
    const harness = await DispatcherHarness.started({ answer: () => (harness.calls.length === 1 ? answered(500) : ok) })
    harness.write({ message: trackMessage('a1', { userId: 'a' }) })
    harness.write({ message: trackMessage('a2', { userId: 'a' }) })
    await harness.advance(1)
    expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(['a1', 'a2'])
  })

  it('ten thousand dropped records do not grow the call stack', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', { paused: true })] })
    for (let index = 0; index < 10_000; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    harness.destinations = [destination('crm', { enabled: false })]
    await harness.advance(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(10_000)
  })
})
