import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readKey, ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const listed = { readAt: '2026-01-01T00:00:00.000Z', audiences: [{ name: 'Shoppers', destinations: [] }] }
let server: Awaited<ReturnType<typeof startOperator>>

beforeEach(async () => {
  server = await startOperator(new ScriptedOperatorApi(), { listAudiences: async () => listed })
})
afterEach(() => server.stop())

const get = (key: string): Promise<Response> =>
  fetch(`${server.url}/v1/audiences`, { headers: { authorization: `Bearer ${key}` } })

describe('GET /v1/audiences', () => {
  it('answers a key with the role read', async () => {
    const response = await get(readKey)
    expect([response.status, await response.json()]).toEqual([200, listed])
  })

  it('needs a key', async () => {
    expect((await get('wrong')).status).toBe(401)
  })

  it('allows only reading', async () => {
    const response = await fetch(`${server.url}/v1/audiences`, { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})
