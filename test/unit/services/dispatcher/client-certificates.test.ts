import { expect, it } from '@jest/globals'
import { type TlsIdentity, tlsIdentityOf } from '../../../../src/core/network/tls-identity.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'

const identity = (cert: string): TlsIdentity => tlsIdentityOf({ cert, key: undefined, ca: undefined })
const [crm, erp] = [identity('crm'), identity('erp')]

it('each request has the client certificate of its own destination', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [
      destination('crm', { tlsIdentity: crm }),
      destination('erp', { tlsIdentity: erp }),
      destination('plain'),
    ],
  })
  for (let user = 0; user < 20; user++) harness.write({ message: trackMessage(`m${user}`, { userId: `u${user}` }) })
  await harness.advance(1)
  const used = Map.groupBy(harness.calls, ({ call }) => new URL(call.url).hostname.split('.')[0])
  expect(
    [...used].map(([id, calls]) => [id, calls.length, new Set(calls.map(({ call }) => call.tlsIdentity))]),
  ).toEqual([
    ['crm', 20, new Set([crm])],
    ['erp', 20, new Set([erp])],
    ['plain', 20, new Set([undefined])],
  ])
})
