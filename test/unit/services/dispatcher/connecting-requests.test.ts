import { describe, expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/limits.ts'
import type { WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const { max, countedMs } = flowLimits.connecting
const delivery = { maxInFlight: 2_000, perWebhook: 2_000, perHost: 2_000 }
const isFor = (id: string) => (call: WebhookCall) => call.url.includes(id)
const at = (id: string) =>
  destination(id, { webhooks: [{ ...webhookOf(0), url: `https://${id}.example.com/` }], sources: [id] })

/** A process with the destinations `dead`, `used` and `new`, each with a source of the same name. */
async function start(idle: readonly string[] = []) {
  const harness = new DispatcherHarness({
    destinations: ['dead', 'used', 'new'].map(at),
    delivery,
    answer: call => (isFor('dead')(call) ? 'never' : ok),
    hasIdleConnection: call => idle.some(id => call.url.includes(id)),
  })
  harness.sources = ['dead', 'used', 'new'].map(id => ({ ...harness.sources[0]!, id }))
  await harness.marks.start()
  await harness.service.start()
  let written = 0
  return {
    harness,
    async write(id: string, count: number) {
      for (let index = 0; index < count; index++)
        harness.write({ sourceId: id, message: trackMessage(`m${++written}`, { userId: `u${written}` }) })
      await harness.advance(1)
    },
    calls: (id: string) => harness.calls.map(({ call }) => call).filter(isFor(id)),
  }
}

describe('requests that open a connection', () => {
  it('wait while too many others do, and start when one of them is connected', async () => {
    const { harness, write, calls } = await start()
    await write('dead', max + 10)
    expect(calls('dead')).toHaveLength(max)
    for (const { onConnected } of calls('dead').slice(0, 3)) {
      onConnected?.()
      // A repeated request calls it again.
      onConnected?.()
    }
    await harness.advance(1)
    expect(calls('dead')).toHaveLength(max + 3)
  })

  it('wait at most half a second for endpoints that do not respond', async () => {
    const { harness, write, calls } = await start()
    await write('dead', max)
    await write('new', 1)
    await harness.advance(countedMs - 10)
    expect(calls('new')).toHaveLength(0)
    await harness.advance(10)
    expect(calls('new')).toHaveLength(1)
  })

  it('do not delay a request that finds an idle connection', async () => {
    const { write, calls } = await start(['used'])
    await write('dead', max)
    await write('used', 5)
    expect(calls('used')).toHaveLength(5)
    expect(calls('used')[0]?.onConnected).toBeUndefined()
  })

  it('give their place to others when they end', async () => {
    const { write, calls } = await start()
    await write('new', 3 * max)
    expect(calls('new')).toHaveLength(3 * max)
  })

  it('are not sent when the process stops before their turn', async () => {
    const { harness, write, calls } = await start()
    await write('dead', max)
    await write('new', 1)
    const stopped = harness.service.stop()
    await harness.advance(20_000)
    await stopped
    expect(calls('new')).toHaveLength(0)
    for (const { onConnected } of calls('dead')) onConnected?.()
    await harness.advance(1)
    expect(calls('new')).toHaveLength(0)
  })
})
