import { describe, expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import type { TlsIdentity } from '../../../../src/core/network/tls-identity.ts'
import type { WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { oauth2Of, webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const { max, countedMs, countedMsWhenSaturated } = flowLimits.connecting
const delivery = { maxInFlight: 2_000, perWebhook: 2_000, perHost: 2_000 }
const isFor = (id: string) => (call: WebhookCall) => call.url.includes(id)
/** A destination that gets the events of the source with the same name. */
const at = (id: string, hosts: readonly string[] = [id]) =>
  destination(id, {
    webhooks: hosts.map((host, index) => ({ ...webhookOf(index), url: `https://${host}.example.com/` })),
    sources: [id],
  })

const authorized = { ...at('authorized'), auth: { oauth2: oauth2Of() } }

const identity: TlsIdentity = { id: 'own', ca: undefined, cert: undefined, key: undefined }
const secured = { ...at('secured'), tlsIdentity: identity }

interface Given {
  /** Hosts with an idle connection. */
  readonly idle?: string[]
  /** The TLS identity of these connections. */
  readonly identity?: TlsIdentity
  readonly cpuSaturatedUntil?: () => number
}

async function start({ idle = [], identity, ...more }: Given = {}) {
  const destinations = [at('dead'), at('used'), at('new'), at('both', ['used', 'new']), authorized, secured]
  const harness = new DispatcherHarness({
    ...more,
    destinations,
    delivery,
    answer: call => (isFor('dead')(call) ? 'never' : ok),
    answerToken: () => 'never',
    hasIdleConnection: ({ url, tlsIdentity }) => idle.some(id => url.includes(id)) && tlsIdentity === identity,
  })
  harness.sources = destinations.map(({ id }) => ({ ...harness.sources[0]!, id }))
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
    calls: (host: string) => harness.calls.map(({ call }) => call).filter(isFor(host)),
  }
}

describe('requests that open a connection', () => {
  it('wait while too many others do, and start when one of them is connected', async () => {
    const { harness, write, calls } = await start()
    await write('dead', max + 10)
    expect(calls('dead')).toHaveLength(max)
    for (const { onConnected } of calls('dead').slice(0, 3)) {
      onConnected?.()
      // A transport that repeats a request calls `onConnected` again.
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

  it.each([
    ['until it has CPU again', 1_000, 1_000],
    ['for at most two seconds', Number.POSITIVE_INFINITY, countedMsWhenSaturated - countedMs],
  ])('wait longer while the process lacks CPU: %s', async (_name, saturatedUntil, waitMs) => {
    const { harness, write, calls } = await start({ cpuSaturatedUntil: () => saturatedUntil })
    await write('dead', max)
    await write('new', 1)
    await harness.advance(waitMs)
    expect(calls('new')).toHaveLength(0)
    await harness.advance(2 * countedMs)
    expect(calls('new')).toHaveLength(1)
  })

  it('do not delay a request that finds an idle connection', async () => {
    const { write, calls } = await start({ idle: ['used'] })
    await write('dead', max)
    await write('used', 5)
    expect(calls('used')).toHaveLength(5)
    expect(calls('used')[0]?.onConnected).toBeUndefined()
  })

  it('do not delay a request that finds an idle connection for its own TLS identity, and only for this one', async () => {
    const { write, calls } = await start({ idle: ['used', 'secured'], identity })
    await write('dead', max)
    await write('secured', 5)
    await write('used', 5)
    expect([calls('secured').length, calls('used').length]).toEqual([5, 0])
  })

  it('of one attempt wait together, so that each webhook gets the message', async () => {
    const { harness, write, calls } = await start({ idle: ['used'] })
    await write('dead', max)
    await write('both', 1)
    expect([calls('used'), calls('new')]).toEqual([[], []])
    calls('dead')[0]?.onConnected?.()
    await harness.advance(1)
    expect([calls('used').length, calls('new').length]).toEqual([1, 1])
  })

  it('give their place to others when they end', async () => {
    const { write, calls } = await start()
    await write('new', 3 * max)
    expect(calls('new')).toHaveLength(3 * max)
  })

  it('do not count while they wait for an access token', async () => {
    const { write, calls } = await start()
    await write('authorized', max)
    expect(calls('authorized')).toHaveLength(0)
    await write('new', 1)
    expect(calls('new')).toHaveLength(1)
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
