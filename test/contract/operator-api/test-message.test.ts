import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createChosenTransport } from '../../../src/adapters/webhook/got-or-undici-transport.ts'
import { signerOf } from '../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../src/core/secret.ts'
import { durationMs } from '../../../src/core/time.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { objectsApi } from '../../support/operator/memory-objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

const closing = closingAfterEach()
const secret = 'a-shared-secret-of-crm'
let server: Awaited<ReturnType<typeof startOperator>>
let memory: MemoryObjects
let endpoint: string
const received: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly url: string | undefined }[] =
  []

beforeEach(async () => {
  received.length = 0
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ headers: request.headers, body, url: request.url })
    response.statusCode = request.url === '/never' ? 410 : 200
    const { method, url, headers } = request
    response.end(url?.startsWith('/echo') ? JSON.stringify({ method, url, headers }) : 'the answer of the endpoint')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  closing({ close: async () => void receiver.close() })
  endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  memory = await memoryObjects(processClock)
  const { network } = memory.merged().settings
  // On the manual clock, no time limit of a request expires.
  const deps = { network: () => network, timeout: durationMs(5_000), clock: new ManualClock() }
  const transport = await createChosenTransport('got', deps)
  closing({ close: () => transport.close() })
  server = await startOperator(new ScriptedOperatorApi(), { objects: await objectsApi({ memory, transport }) })
  closing({ close: () => server.stop() })
})
const ask = (line: string, body?: unknown) => askObjects(server, line, body)
const create = (webhooks: readonly object[], more: object = {}) =>
  ask('PUT /v1/destinations/crm', { sources: ['web'], sharedSecret: secret, webhooks, ...more })

it('sends one signed message to each webhook, and answers masked requests', async () => {
  const headers = { Authorization: 'Bearer c0nfidential' }
  await create([
    { id: 'a', url: `${endpoint}/hooks/T0KEN`, headers },
    { id: 'b', url: `${endpoint}/never` },
  ])
  const { status, body } = await ask('POST /v1/destinations/crm/test')
  expect(status).toBe(200)
  expect(received).toHaveLength(2)
  for (const request of received) {
    expect(request.body).toBe(body.body)
    expect(request.headers['x-signature']).toBe(signerOf(new Secret(secret))(Buffer.from(request.body)))
    expect(request.headers['x-message-id']).toBe(body.messageId)
  }
  expect(JSON.parse(body.body)).toMatchObject({ type: 'track', event: 'Hookline Test' })
  expect(body).toMatchObject({
    delivered: true,
    responses: [
      {
        webhook: 'a',
        outcome: 'delivered',
        status: 200,
        request: { url: `${endpoint}/***`, headers: { Authorization: '***', 'X-Message-Id': body.messageId } },
      },
      { webhook: 'b', outcome: 'http_4xx', status: 410 },
    ],
  })
  for (const { tookMs } of body.responses) expect(tookMs).toBeGreaterThanOrEqual(0)
  const responseBody = { text: 'the answer of the endpoint', truncated: false }
  expect(body.responses).toMatchObject([{ responseBody }, { responseBody }])
  expect(JSON.stringify(body)).not.toMatch(/T0KEN|c0nfidential|a-shared-secret/)
  expect(server.audited.at(-1)).toMatchObject({ action: 'test_destination', destination: 'crm', delivered: true })
})

it('masks the secrets that the endpoint repeats in its response', async () => {
  const headers = { Authorization: 'Bearer c0nfidential', 'X-Key': 'quoted "s3cret" key' }
  await create([{ url: `${endpoint}/echo/T0KEN-of-the-path?key=T0KEN-of-the-query`, headers }])
  const { body } = await ask('POST /v1/destinations/crm/test')
  expect(received[0]).toMatchObject({ url: '/echo/T0KEN-of-the-path?key=T0KEN-of-the-query' })
  expect(JSON.parse(body.responses[0].responseBody.text)).toMatchObject({
    ...{ method: 'POST', url: '***' },
    headers: { authorization: '***', 'x-key': '***', 'x-message-id': body.messageId },
  })
  expect(JSON.stringify(body)).not.toMatch(/T0KEN|c0nfidential|s3cret/)
})

it('tests a destination before it is enabled, and reports why an endpoint cannot be reached', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  await once(closed, 'close')
  await create([{ url: `http://127.0.0.1:${port}/` }], { enabled: false })
  const { status, body } = await ask('POST /v1/destinations/crm/test')
  expect([status, body.delivered]).toEqual([200, false])
  expect(body.responses[0]).toMatchObject({ outcome: 'connect', failure: { phase: 'connect', code: 'ECONNREFUSED' } })
  expect(body.responses[0]).not.toHaveProperty('status')
  expect(body.responses[0]).not.toHaveProperty('responseBody')
})

it('of a destination that does not exist is 404', async () => {
  expect((await ask('POST /v1/destinations/crm/test')).body.code).toBe('not_found')
  expect(received).toEqual([])
})
