import { describe, expect, it } from '@jest/globals'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'

const hour = 3_600_000

describe('retries', () => {
  it('follow the schedule exactly, and end in the dead-letter topic', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)

    const waits = harness.calls.slice(1).map(({ at }, index) => at - (harness.calls[index]?.at ?? 0))
    expect(waits).toEqual(defaultSchedule)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({
      reason: 'retries_exhausted',
      attempt: '10',
      outcomes: 'http_5xx',
      'message-id': 'm1',
    })
    expect(deadLetter?.key?.toString()).toBe(
      `crm/hookline.events/0/0/${harness.log.records(harness.topics.events)[0]?.timestamp}/0`,
    )
    expect(harness.count('deadLetters{crm,retries_exhausted}')).toBe(1)
  })

  it('send the same bytes and the same message id every time', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    expect(new Set(harness.calls.map(({ call }) => call.body.toString())).size).toBe(1)
    expect(new Set(harness.calls.map(({ call }) => call.headers['X-Message-Id']))).toEqual(new Set(['m1']))
  })

  it('wait for the time in Retry-After, over several tiers if necessary', async () => {
    const harness = await DispatcherHarness.started({
      answer: () => (harness.calls.length === 1 ? answered(429, '100') : ok),
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(hour)
    expect(harness.calls[1]!.at - harness.calls[0]!.at).toBe(100_000)
    // The delivery waits one minute in a retry topic, is deferred once to wait 30 s in another
    // retry topic, and then waits 10 s in memory.
    expect(harness.count('deferrals{not_before}')).toBe(1)
  })

  it('call a webhook that rejected the event only once, although reloads add many that reject it too', async () => {
    let added = 2
    const current = () => [destination('crm', { webhooks: [0, 20, added].map(index => webhookOf(index)) })]
    const harness = await DispatcherHarness.started({
      destinations: current(),
      answer({ url }) {
        if (!url.endsWith('/20')) return answered(404)
        added += 1
        harness.destinations = current()
        return answered(503)
      },
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    const callsOf = (index: number): number => harness.calls.filter(({ call }) => call.url.endsWith(`/${index}`)).length
    expect([callsOf(0), callsOf(20), harness.calls.length]).toEqual([1, 10, 21])
  })

  it('end with the rejection of the webhook that is first in the current configuration', async () => {
    const [first, second] = [webhookOf(0), webhookOf(1)]
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks: [first, second] })],
      answer({ url }) {
        if (url.endsWith('/1')) return answered(404)
        return answered(harness.calls.length > 2 ? 301 : 503)
      },
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    harness.destinations = [destination('crm', { webhooks: [second, first] })]
    await harness.advance(10_000)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason: 'http_4xx', outcomes: 'http_3xx,http_4xx' })
  })

  it('are never made after the window, also when the process was stopped for long', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    await harness.retries.stop()
    await harness.advance(5 * hour)
    await harness.restart()
    await harness.advance(hour)
    expect(harness.calls).toHaveLength(1)
    expect(harness.log.records(harness.topics.deadLetter)[0]?.headers['reason']).toBe('retry_window_over')
  })
})
