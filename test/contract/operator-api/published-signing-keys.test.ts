import { createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { requestsOf } from '../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../src/core/secret.ts'
import { createPublishedKeys } from '../../../src/services/operator/published-signing-keys.ts'
import { defaultPayload, destinationOf, start, webhookOf } from '../../support/builders.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const privateKey = (): Secret =>
  new Secret(String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })))
const crm = destinationOf({
  id: 'crm',
  signingKeys: [privateKey(), privateKey()],
  policy: { standardWebhooks: true, signing: 'ed25519' },
})
const erp = destinationOf({ id: 'erp', signingKeys: [privateKey()] })

async function started(destinations = [crm, erp]) {
  const byId = new Map(destinations.map(destination => [destination.id, destination]))
  const server = await startOperator(new ScriptedOperatorApi(), {
    publishedKeys: createPublishedKeys({ destinations: () => byId, clock: processClock }),
  })
  closing.push(server.stop)
  const ask = (query = '', init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/.well-known/hookline-keys.json${query}`, init)
  const keysOf = async (query = ''): Promise<readonly (JsonWebKey & { kid: string })[]> =>
    ((await (await ask(query)).json()) as { keys: (JsonWebKey & { kid: string })[] }).keys
  return { ask, keysOf }
}

describe('GET /.well-known/hookline-keys.json', () => {
  it('needs no operator key, and says how long receivers may keep the keys', async () => {
    const { ask } = await started()
    const response = await ask()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(await response.text()).not.toMatch(/PRIVATE|"d"|crm|erp/)
  })

  it('lists the keys of all destinations, or of one', async () => {
    const { keysOf } = await started()
    const [all, ofCrm] = [await keysOf(), await keysOf('?destination=crm')]
    expect(all).toHaveLength(3)
    expect(ofCrm).toEqual(all.slice(0, 2))
  })

  it.each(['?destination=none', '?destination=', '?destination=crm&destination=erp'])(
    'does not show which destinations exist: %s',
    async query => {
      const { keysOf } = await started([erp])
      expect(await keysOf(query)).toHaveLength(query.includes('&') ? 1 : 0)
    },
  )

  it('verifies the signatures of requests', async () => {
    const { keysOf } = await started()
    const [call] = requestsOf({
      ...{ destination: crm, webhooks: [webhookOf(0)], body: Buffer.from('{"a":1}') },
      ...{ messageId: 'm-1', at: start, payload: defaultPayload },
    })
    const { 'webhook-timestamp': at = '', 'webhook-signature': signatures = '' } = call?.headers ?? {}
    const signed = Buffer.from(`m-1.${at}.{"a":1}`)
    const results = (await keysOf('?destination=crm')).map((jwk, index) => {
      const signature = Buffer.from(signatures.split(' ')[index]!.replace('v1a,', ''), 'base64')
      return verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), signature)
    })
    expect(results).toEqual([true, true])
  })

  it.each([
    ['HEAD', 200],
    ['OPTIONS', 204],
    ['POST', 405],
  ])('%s: %d', async (method, status) => {
    const { ask } = await started()
    expect((await ask('', { method })).status).toBe(status)
  })
})
