import { describe, expect, it } from '@jest/globals'
import type { WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const isFor = (id: string) => (call: WebhookCall) => call.url.includes(id)

describe('destinations on one host', () => {
  const at = (id: string, webhooks: number) =>
    destination(id, {
      webhooks: Array.from({ length: webhooks }, (_, index) => ({
        ...webhookOf(index),
        url: `https://shared.example.com/${id}/${index}`,
      })),
    })

  it('two with five webhooks each that answer 200 after 4.8 s leave a third one 99.9 % of its events within 1 s', async () => {
    const writtenAt = new Map<string, number>()
    const harness = await DispatcherHarness.started({
      destinations: [at('slow-1', 5), at('slow-2', 5), at('well', 1)],
      latencyMs: call => (isFor('slow')(call) ? 4_800 : 0),
      delivery: { maxInFlight: 512, perWebhook: 64, perHost: 128 },
    })
    for (let index = 0; index < 40 * 80; index++) {
      const id = `m${index}`
      writtenAt.set(id, harness.clock.now())
      harness.write({ message: trackMessage(id, { userId: id }) })
      if (index % 8 === 7) await harness.advance(100)
    }
    const delays = harness.calls.flatMap(({ call, at: startedAt }) =>
      isFor('well')(call) ? [startedAt - (writtenAt.get(call.headers['X-Message-Id'] as string) as number)] : [],
    )
    expect(delays.filter(ms => ms <= 1_000).length).toBeGreaterThanOrEqual(0.999 * 40 * 80)
    for (const slow of ['slow-1', 'slow-2'])
      expect(harness.calls.filter(({ call }) => isFor(slow)(call)).length).toBeGreaterThan(100)
  })

  it('permits held by others open no circuit breaker and use no attempts, also when a webhook fails', async () => {
    const [here] = at('mixed', 1).webhooks
    const dead = { ...here!, label: 'dead', url: 'https://dead.example.com/', urlHash: '11111111' }
    const harness = await DispatcherHarness.started({
      destinations: [...[1, 2, 3, 4].map(n => at(`slow-${n}`, 1)), destination('mixed', { webhooks: [dead, here!] })],
      answer: call => (isFor('slow')(call) ? 'never' : isFor('dead')(call) ? answered(503) : ok),
      delivery: { perHost: 4 },
    })
    for (let index = 0; index < 40; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    await harness.advance(1)
    const first = harness.calls.filter(({ call }) => isFor('dead')(call)).length
    expect(first).toBe(40)
    expect(harness.gauge('breakersOpen{mixed}')).toBeUndefined()
    const waiting = harness.log.records(harness.topics.retry(10_000 as never))
    expect(waiting).toHaveLength(40)
    for (const { headers } of waiting)
      expect(headers).toMatchObject({ attempt: '0', deferrals: '0', outcomes: 'http_5xx', reason: 'lane_full' })
  })

  it('sixty hanging ones leave another one its share: each ended request is followed by the next', async () => {
    const slow = Array.from({ length: 60 }, (_, index) => at(`slow-${index}`, 1))
    const harness = await DispatcherHarness.started({
      destinations: [...slow, at('well', 1)],
      answer: call => (isFor('slow')(call) ? 'never' : ok),
      delivery: { maxInFlight: 512, perWebhook: 64, perHost: 128 },
    })
    for (let index = 0; index < 200; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    await harness.advance(900)
    expect(harness.calls.filter(({ call }) => isFor('well')(call))).toHaveLength(200)
  })
})
