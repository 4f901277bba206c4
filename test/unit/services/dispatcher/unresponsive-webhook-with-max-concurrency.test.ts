import { describe, expect, it } from '@jest/globals'
import type { DeliverySettings } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult, WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const second = 1_000
const timedOut: CallResult = { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail: '' }

interface Response {
  readonly result: CallResult
  readonly afterMs: number
}

const idOf = ({ headers }: WebhookCall): string => String(headers['X-Message-Id'])

const webhooks = ['quick', 'slow'].map((name, index) => ({ ...webhookOf(index), url: `https://${name}.example.com/` }))

/**
 * Starts a dispatcher for a destination with `maxConcurrency: 12` and two webhooks: `quick`
 * responds after 20 ms, and `slow` with the result of the parameter `slow`.
 */
async function start(
  slow: (id: string) => Response,
  quick: (id: string) => CallResult = () => ok,
  limits: Partial<DeliverySettings> = {},
) {
  const isSlow = ({ url }: WebhookCall): boolean => url.includes('slow')
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm', { webhooks, policy: { maxConcurrency: 12 } })],
    delivery: { schedule: [durationMs(10 * second)], window: durationMs(600 * second), ...limits },
    answer: call => (isSlow(call) ? slow(idOf(call)).result : quick(idOf(call))),
    latencyMs: call => (isSlow(call) ? slow(idOf(call)).afterMs : 20),
  })
  // A new owner of the partition first waits until the requests of the previous owner have ended.
  await harness.advance(10 * second)
  const send = (id: string): void => harness.write({ message: trackMessage(id, { userId: id }) })
  const sentTo = (name: string): readonly string[] =>
    harness.calls.flatMap(({ call }) => (call.url.includes(name) ? [idOf(call)] : []))
  return { harness, send, sentTo }
}

describe('with maxConcurrency, a webhook that never responds', () => {
  it('does not stop the other one, and still gets as many requests as its limit permits', async () => {
    const { harness, send, sentTo } = await start(() => ({ result: timedOut, afterMs: 5 * second }))
    for (let index = 0; index < 2_000; index++) send(`m${index}`)
    await harness.advance(9.5 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBe(2_000)
    expect(sentTo('slow')).toHaveLength(24)
  })

  it('does not count for the schedule of a message that the other one does not accept', async () => {
    let isHanging = true
    const { harness, send, sentTo } = await start(
      () => (isHanging ? { result: timedOut, afterMs: 5 * second } : { result: ok, afterMs: 500 }),
      id => (id.startsWith('m') ? ok : answered(id.startsWith('rejected') ? 400 : 503)),
    )
    for (let index = 0; index < 100; index++) send(`m${index}`)
    await harness.advance(6 * second)
    for (let time = 0; time < 60; time++) {
      for (let index = 0; index < 20; index++) send(`m${time}-${index}`)
      send(`rejected${time}`)
      send(`failed${time}`)
      await harness.advance(second)
      // The messages that `quick` does not accept do not delay the others.
      expect(harness.count('deliveries{crm,delivered}')).toBe(100 + 20 * (time + 1))
    }
    expect(harness.gauge('breakersOpen{crm}')).toBeUndefined()
    expect(harness.count('deferrals{lane_full}')).toBeGreaterThan(100)
    expect(harness.count('deferrals{lane_full}')).toBeLessThan(400)
    isHanging = false
    await harness.advance(400 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBe(100 + 22 * 60)
    expect(harness.count('deliveries{crm,dead_lettered}')).toBe(0)
    expect(sentTo('slow')).toEqual(expect.arrayContaining(Array.from({ length: 60 }, (_, time) => `rejected${time}`)))
  })

  it('lets each message end after the retry window', async () => {
    const { harness, send } = await start(
      () => ({ result: timedOut, afterMs: 5 * second }),
      id => (id.startsWith('m') ? ok : answered(400)),
    )
    for (let time = 0; time < 1_200; time++) {
      for (let index = 0; index < 5; index++) send(`m${time}-${index}`)
      if (time < 60) send(`rejected${time}`)
      await harness.advance(second)
    }
    expect(harness.count('deadLetters{crm,retry_window_over}')).toBeGreaterThan(0)
    expect(harness.count('deliveries{crm,dead_lettered}')).toBe(60)
    expect(harness.count('deliveries{crm,delivered}')).toBe(6_000)
  })
})

describe.each<Partial<DeliverySettings>>([{ perWebhook: 8 }, { perHost: 8 }])(
  'with maxConcurrency above the limit of the process %j',
  limits => {
    it('a slower webhook that responds gets each message', async () => {
      const { harness, send, sentTo } = await start(() => ({ result: ok, afterMs: 500 }), undefined, limits)
      for (let index = 0; index < 200; index++) send(`m${index}`)
      await harness.advance(20 * second)
      expect(new Set(sentTo('slow')).size).toBe(200)
      expect(harness.count('deliveries{crm,delivered}')).toBe(200)
    })

    it('a webhook that never responds does not stop the other one', async () => {
      const hangs = () => ({ result: timedOut, afterMs: 5 * second })
      const { harness, send, sentTo } = await start(hangs, undefined, limits)
      for (let index = 0; index < 500; index++) send(`m${index}`)
      await harness.advance(9.5 * second)
      expect(harness.count('deliveries{crm,delivered}')).toBe(500)
      expect(sentTo('slow')).toHaveLength(16)
    })
  },
)

describe('with maxConcurrency and two webhooks on one host', () => {
  const onOneHost = webhooks.map((webhook, index) => ({ ...webhook, url: `https://example.com/${index}` }))
  const startWith = async (perHost: number): Promise<DispatcherHarness> => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks: onOneHost, policy: { maxConcurrency: 12 } })],
      delivery: { perHost },
      latencyMs: ({ url }) => (url.endsWith('/1') ? 500 : 20),
    })
    await harness.advance(10 * second)
    for (let index = 0; index < 100; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
    await harness.advance(60 * second)
    return harness
  }

  it.each([9, 8])('each gets each message while the host has %i permits', async perHost => {
    const { calls } = await startWith(perHost)
    for (const path of ['/0', '/1']) expect(calls.filter(({ call }) => call.url.endsWith(path))).toHaveLength(100)
  })

  it('they take turns while the host has one permit', async () => {
    const harness = await startWith(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(100)
  })
})

it.each([5, 8])(
  'with maxConcurrency and %d permits for its host, a hung webhook does not stop the other',
  async perHost => {
    const onOneHost = ['quick', 'slow'].map((path, index) => ({
      ...webhookOf(index),
      url: `https://one.example.com/${path}`,
    }))
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks: onOneHost, policy: { maxConcurrency: 4 } })],
      delivery: { schedule: [durationMs(10 * second)], window: durationMs(600 * second), perHost },
      answer: ({ url }) => (url.endsWith('slow') ? timedOut : ok),
      latencyMs: ({ url }) => (url.endsWith('slow') ? 5 * second : 20),
    })
    await harness.advance(10 * second)
    for (let index = 0; index < 1_000; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
    await harness.advance(20 * second)
    expect(harness.count('deliveries{crm,delivered}')).toBeGreaterThan(300)
  },
)

describe('with maxConcurrency, a slower webhook that responds', () => {
  it.each([
    ['to each request', 0],
    ['to most requests', 20],
  ])('%s gets each message, at the rate that its limit permits', async (_, timeouts) => {
    const { harness, send, sentTo } = await start(id =>
      Number(id.slice(1)) % 20 < timeouts / 20
        ? { result: timedOut, afterMs: 5 * second }
        : { result: ok, afterMs: 500 },
    )
    for (let index = 0; index < 400; index++) send(`m${index}`)
    await harness.advance(32 * second)
    for (const name of ['quick', 'slow']) expect(new Set(sentTo(name)).size).toBe(400)
    expect(harness.count('deliveries{crm,delivered}')).toBe(400)
    expect(harness.count('deliveries{crm,deferred}')).toBe(0)
  })

  it.each(['proxy', 'auth'] as const)('gets each message after requests that failed in the phase %s', async phase => {
    let isBroken = true
    const failed: CallResult = { kind: 'failed', phase, code: 'ECONNREFUSED', detail: '' }
    const { harness, send, sentTo } = await start(
      () => (isBroken ? { result: failed, afterMs: 5 } : { result: ok, afterMs: 500 }),
      () => (isBroken ? failed : ok),
    )
    for (let index = 0; index < 20; index++) send(`failed${index}`)
    await harness.advance(2 * second)
    isBroken = false
    for (let index = 0; index < 100; index++) send(`m${index}`)
    await harness.advance(30 * second)
    const ids = sentTo('slow').filter(id => id.startsWith('m'))
    expect(new Set(ids).size).toBe(100)
  })

  it('gets the first message after a reload that adds the limit', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks })],
      latencyMs: ({ url }) => (url.includes('slow') ? 500 : 20),
    })
    await harness.advance(10 * second)
    const send = (id: string): void => harness.write({ message: trackMessage(id, { userId: id }) })
    for (let index = 0; index < 12; index++) send(`before${index}`)
    await harness.advance(100)
    harness.destinations = [destination('crm', { webhooks, policy: { maxConcurrency: 4 } })]
    send('first')
    await harness.advance(10 * second)
    const urls = harness.calls.flatMap(({ call }) => (idOf(call) === 'first' ? [call.url] : []))
    expect(urls).toEqual(webhooks.map(({ url }) => url))
  })
})
