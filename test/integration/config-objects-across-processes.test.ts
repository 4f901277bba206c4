import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { HttpEndpoint } from '../support/network/http-endpoint.ts'
import { operatorKey } from '../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects, type ObjectAnswer } from '../support/operator/send-operator-api-request.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { TokenServer } from '../support/webhook/token-server.ts'

const secret = testSecret('shared-by-crm')
let installation: TestInstallation
let operators: readonly [RunningService, RunningService]
let endpoint: { readonly url: string; readonly signatures: (string | undefined)[]; close(): void }

async function startEndpoint(): Promise<typeof endpoint> {
  const signatures: (string | undefined)[] = []
  const server = createServer((request, response) => {
    signatures.push(request.headers['x-signature'] as string | undefined)
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return { url, signatures, close: () => void server.close() }
}

beforeAll(async () => {
  endpoint = await startEndpoint()
  const folder = await configFolder({ key: `${'01'.repeat(31)}02\n` })
  installation = await startInstallation({
    log: { level: 'warn' },
    delivery: { schedule: ['1s'] },
    operator: {
      listen: '127.0.0.1:0',
      keys: [{ name: 'ada', role: 'operate', key: operatorKey }],
      encryptionKeyFile: join(folder, 'key'),
    },
  })
  const [first, second] = await Promise.all([
    installation.run({}, ['--services', 'operator']),
    installation.run({}, ['--services', 'operator']),
    installation.run({}, ['--services', 'dispatcher']),
  ])
  operators = [first, second]
})
afterAll(async () => {
  await installation?.close()
  endpoint?.close()
})

type Given = Parameters<typeof askObjects>[3]
const ask = (operator: RunningService, line: string, body?: unknown, given?: Given): Promise<ObjectAnswer> =>
  askObjects({ url: operator.operator! }, line, body, given)
const document = (more: object = {}) => ({
  sources: ['web'],
  sharedSecret: secret,
  webhooks: [{ url: endpoint.url }],
  ...more,
})
const untilSeen = (operator: RunningService, id: string, version: number) =>
  until(async () => ((await ask(operator, `GET /v1/destinations/${id}`)).body.version === version ? true : undefined))

it('a destination that one process creates is in force in all processes', async () => {
  const [one, other] = operators
  expect((await ask(one, 'PUT /v1/destinations/crm', document())).status).toBe(201)
  await untilSeen(other, 'crm', 1)
  const { body } = await ask(other, 'POST /v1/destinations/crm/test')
  expect(body).toMatchObject({ delivered: true, responses: [{ status: 200 }] })

  await until(async () => {
    await installation.send(trackEvents(1, `m-${endpoint.signatures.length}`))
    return endpoint.signatures.length >= 2 ? true : undefined
  })
  expect(endpoint.signatures[1]).toMatch(/^[0-9a-f]{40}$/)

  expect((await ask(other, 'POST /v1/destinations/crm/pause')).body).toMatchObject({ state: 'paused', version: 2 })
  await untilSeen(one, 'crm', 2)
  const records = (await installation.read(installation.topics.config)).map(({ value }) => String(value))
  expect(records.join('\n')).not.toContain(secret)
  expect((await ask(one, 'GET /v1/changes')).body.changes).toMatchObject([{ version: 2 }, { version: 1, by: 'ada' }])
})

const eventsNamed = (event: string) =>
  trackEvents(1, randomUUID()).map(each => ({ ...each, message: { ...each.message, event } }))

it('the dispatcher uses the signing key, access token, filter and policy of an object', async () => {
  const [one, other] = operators
  const signingKey = `whsk_${Buffer.alloc(32, 7).toString('base64')}`
  const clientSecret = testSecret('client-secret-of-erp')
  const tokens = new TokenServer({ id: 'erp', secret: clientSecret })
  const requests: { readonly isAuthorized: boolean; readonly signature: string; readonly event: unknown }[] = []
  const strict = new HttpEndpoint(async (request, response) => {
    const { event } = JSON.parse(await text(request))
    const signature = String(request.headers['webhook-signature'])
    requests.push({ isAuthorized: tokens.accepts(request), signature, event })
    response.end()
  })
  await Promise.all([tokens.start(), strict.start()])
  const erp = {
    sources: ['web'],
    signingKey,
    auth: { oauth2: { tokenUrl: tokens.url, clientId: 'erp', clientSecret } },
    policy: { signing: 'ed25519', standardWebhooks: true, timeout: '1s', ordering: 'key' },
    filter: { events: { include: ['Wanted *'] } },
    lifecycle: { pauseKeepsWindow: true },
    webhooks: [{ url: `${strict.url}/hooks` }],
  }
  expect((await ask(one, 'PUT /v1/destinations/erp', erp)).status).toBe(201)
  await untilSeen(other, 'erp', 1)
  await until(async () => {
    await installation.send([...eventsNamed('Unwanted'), ...eventsNamed('Wanted Thing')])
    return requests.length > 0 ? true : undefined
  })
  expect(requests.map(({ event }) => event)).not.toContain('Unwanted')
  expect(requests[0]).toMatchObject({ isAuthorized: true, signature: expect.stringMatching(/^v1a,/) })
  const masked = (await ask(other, 'GET /v1/destinations/erp')).body.document
  expect(masked).toMatchObject({ signingKey: '***', auth: { oauth2: { clientSecret: '***' } } })
  const patch = { filter: null, lifecycle: { pauseKeepsWindow: false } }
  expect((await ask(other, 'PATCH /v1/destinations/erp', patch, { ifMatch: 1 })).status).toBe(200)
  await until(async () => {
    await installation.send(eventsNamed('Unwanted'))
    return requests.some(({ event }) => event === 'Unwanted') ? true : undefined
  })
  expect(requests.every(({ isAuthorized }) => isAuthorized)).toBe(true)
  const records = (await installation.read(installation.topics.config)).map(({ value }) => String(value)).join()
  for (const hidden of [signingKey, clientSecret]) expect(records).not.toContain(hidden)
  await untilSeen(one, 'erp', 2)
  expect((await ask(one, 'DELETE /v1/destinations/erp', undefined, { ifMatch: 2 })).status).toBe(204)
  await Promise.all([tokens.close(), strict.close()])
})

it('the status counts deliveries that wait for a paused destination', async () => {
  const [one] = operators
  await until(async () => {
    await installation.send(trackEvents(1, 'waits'))
    const { body } = await ask(one, 'GET /v1/destinations/crm/status')
    return body.waiting.length > 0 ? true : undefined
  })
  const body = await until(async () => {
    const { body } = await ask(one, 'GET /v1/status')
    // The response is partial when Kafka takes more than about a second.
    return body.partial === undefined ? body : undefined
  })
  expect(body).toMatchObject({ destinations: { paused: 1 }, sources: { enabled: 1 }, problems: [] })
  expect(body.groups.map(({ group }: { group: string }) => group)).toContain(installation.topics.dispatcherGroup)
  expect((await ask(one, 'DELETE /v1/destinations/crm', undefined, { ifMatch: 2 })).status).toBe(204)
})

it('of concurrent changes of one version exactly one wins, and every acknowledged change is in force', async () => {
  const [one] = operators
  const rounds = 10
  const writers = 6
  await ask(one, 'PUT /v1/destinations/contested', document())
  const acknowledged: { readonly version: number; readonly label: string }[] = []
  for (let version = 1; version <= rounds; version++) {
    for (const operator of operators) await untilSeen(operator, 'contested', version)
    const answers = await Promise.all(
      Array.from({ length: writers }, (_, writer) => {
        const label = `writer-${version}-${writer}`
        const patch = { webhooks: [{ id: label, url: endpoint.url }] }
        const operator = operators[writer % 2] as RunningService
        return ask(operator, 'PATCH /v1/destinations/contested', patch, { ifMatch: version }).then(answer => ({
          ...{ label, answer },
        }))
      }),
    )
    const won = answers.filter(({ answer }) => answer.status === 200)
    expect(won).toHaveLength(1)
    const lost = answers.filter(({ answer }) => answer.status !== 200)
    expect(lost.map(({ answer }) => [answer.status, answer.body.code])).toEqual(
      lost.map(() => [412, 'precondition_failed']),
    )
    const [{ label, answer }] = won as [(typeof won)[number]]
    expect(answer.body.version).toBe(version + 1)
    acknowledged.push({ version: version + 1, label })
    for (const operator of operators) {
      await untilSeen(operator, 'contested', version + 1)
      const { body } = await ask(operator, 'GET /v1/destinations/contested')
      expect(body.document.webhooks[0].id).toBe(label)
    }
  }
  expect(acknowledged).toHaveLength(rounds)
})

it('concurrent changes without a version are all in force, one after the other', async () => {
  await ask(operators[0], 'PUT /v1/sources/app', { writeKey: testSecret('write-key-of-app') })
  await until(async () => ((await ask(operators[1], 'GET /v1/sources/app')).status === 200 ? true : undefined))
  const answers = await Promise.all(operators.map(operator => ask(operator, 'POST /v1/sources/app/rotate-key')))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3])
  const { body } = await ask(operators[0], 'GET /v1/sources/app')
  expect(body.document.writeKey).toHaveLength(3)
})

it('a resend to a destination is accepted right after its creation, also during other changes', async () => {
  const [one] = operators
  const resend = { since: '1h', until: '0s', dryRun: true }
  const statuses: (readonly [created: number, accepted: number])[] = []
  async function createInTurn(name: string): Promise<void> {
    for (const destination of [1, 2, 3, 4].map(number => `${name}-${number}`)) {
      const { status } = await ask(one, `PUT /v1/destinations/${destination}`, document())
      statuses.push([status, (await ask(one, 'POST /v1/resends', { ...resend, destination })).status])
    }
  }
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(createInTurn))
  expect(statuses).toEqual(statuses.map(() => [201, 202]))
})
