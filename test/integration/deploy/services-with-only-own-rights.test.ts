import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { hookline } from '../../../deploy/tools/local/hookline-process.ts'
import { serviceNames } from '../../../src/core/settings/service-names.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { rendered } from '../../support/deploy/manifests/renderings.ts'
import { ofKind } from '../../support/deploy/manifests/workloads.ts'
import { until } from '../../support/kafka/admin.ts'
import { startInstallation } from '../../support/process/test-installation.ts'

const closing = closingAfterEach()
const userOf = (part: string): string => `hookline-kafka-${part}`
const password = 'password-of-all'

/** Starts a broker with a second port, where it authenticates users and checks their ACLs. */
async function startStrictBroker() {
  const port = await freePorts(3)
  const [controllerPort, closedPort] = [port + 1, port + 2]
  const users = ['prepare', ...serviceNames].map(part => ` user_${userOf(part)}="${password}"`).join('')
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  const broker = await startBroker({
    ...{ dataDir: await mkdtemp(join(tmpdir(), 'hookline-rights-')), port, controllerPort, throwAway: true },
    properties: {
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},CLOSED://127.0.0.1:${closedPort}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},CLOSED://127.0.0.1:${closedPort}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLOSED:SASL_PLAINTEXT',
      'sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.closed.plain.sasl.jaas.config': `${module} required${users};`,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    },
  })
  closing({ close: () => broker.stop() })
  return { open: broker.address, closed: `127.0.0.1:${closedPort}` }
}

async function grant(values: object, broker: string): Promise<void> {
  const { AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes } = kafkajs
  const operations: Readonly<Record<string, number>> = {
    ...{ Read: AclOperationTypes.READ, Write: AclOperationTypes.WRITE, Create: AclOperationTypes.CREATE },
    ...{ Describe: AclOperationTypes.DESCRIBE, DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS },
  }
  const strimzi = { cluster: 'kafka', user: { enabled: true } }
  const acl = ofKind(await rendered({ ...values, strimzi }), 'KafkaUser').flatMap(({ metadata, spec }) => {
    const { acls } = (spec as { authorization: { acls: readonly Rule[] } }).authorization
    return acls.flatMap(({ resource, operations: allowed }) =>
      allowed.map(operation => ({
        resourceType: resource.type === 'group' ? AclResourceTypes.GROUP : AclResourceTypes.TOPIC,
        resourceName: resource.name,
        resourcePatternType:
          resource.patternType === 'prefix' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
        ...{ principal: `User:${metadata.name}`, host: '*', permissionType: AclPermissionTypes.ALLOW },
        operation: operations[operation] as number,
      })),
    )
  })
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  await admin.createAcls({ acl })
  await admin.disconnect()
}

interface Rule {
  readonly resource: { readonly type: string; readonly name: string; readonly patternType: string }
  readonly operations: readonly string[]
}

/**
 * Endpoints by path: `/good` accepts all requests, `/late` responds to its first request with a
 * 503, and `/never` rejects all requests.
 */
async function startEndpoints() {
  const taken: string[] = []
  let refusals = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const isLate = request.url === '/late' && refusals++ === 0
    response.statusCode = request.url === '/never' ? 400 : isLate ? 503 : 200
    if (response.statusCode === 200) taken.push(`${request.url} ${JSON.parse(text).type} ${JSON.parse(text).userId}`)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing({ close: async () => void server.close() })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { taken, url }
}

it('each service works with only its own rights and secret files', async () => {
  const [{ open, closed }, endpoints] = [await startStrictBroker(), await startEndpoints()]
  const folder = await configFolder({
    'collector/web': 'write-key-of-web-1',
    'operator/ada': 'operator-key-of-ada',
    ...Object.fromEntries(
      ['dispatcher', 'operator'].flatMap(part =>
        ['good', 'late', 'never'].map(id => [`${part}/${id}`, `shared-secret-of-${id}`]),
      ),
    ),
    ...Object.fromEntries(serviceNames.map(part => [`${part}/config-key`, `${'01'.repeat(31)}02`])),
  })
  const secret = (name: string): string => `\${SECRETS:-nowhere}/${name}`
  const destination = (id: string) => ({
    ...{ id, sources: ['web'], sharedSecretFile: secret(id) },
    webhooks: [{ url: `${endpoints.url}/${id}` }],
  })
  const config = {
    delivery: { schedule: ['1s'], attemptsTopic: true },
    operator: {
      ...{ listen: '127.0.0.1:0', encryptionKeyFile: secret('config-key') },
      keys: [{ name: 'ada', role: 'operate', keyFile: secret('ada') }],
    },
    sources: [{ id: 'web', writeKeyFile: secret('web') }],
    destinations: ['good', 'late', 'never'].map(destination),
    audiences: { list: [{ name: 'Shoppers', destinations: ['good'] }] },
    canary: { destination: 'good', every: '5s' },
  }
  const installation = closing(await startInstallation(config, open))
  const topics = { prefix: installation.topics.events.replace(/\.events$/, '') }
  const { operator, ...others } = config
  const { listen, ...granted } = operator
  await grant({ config: { ...others, operator: granted, topics } }, open)
  const sasl = { mechanism: 'plain', username: `\${HOOKLINE_KAFKA_USER}`, password }
  await installation.configure({ ...config, kafka: { brokers: [closed], sasl } })
  const envOf = (part: string) => ({
    ...process.env,
    KAFKA_BROKERS: closed,
    HOOKLINE_KAFKA_USER: userOf(part),
    SECRETS: join(folder, part),
  })

  await hookline(installation.configFile, ['topics', 'apply'], envOf('prepare'))
  for (const name of serviceNames)
    expect(await hookline(installation.configFile, ['doctor', '--services', name], envOf(name))).toContain(
      'access: this client may',
    )
  const services = await Promise.all(serviceNames.map(name => installation.run(envOf(name), ['--services', name])))
  const collector = services[serviceNames.indexOf('collector')]
  const operators = services[serviceNames.indexOf('operator')]
  const post = async (url: string, body: string, authorization: string): Promise<number> =>
    (await fetch(url, { method: 'POST', body, headers: { authorization, 'content-type': 'application/json' } })).status
  const asOperator = (path: string, body: string) =>
    post(`${operators?.operator}${path}`, body, 'Bearer operator-key-of-ada')
  const untilTaken = (what: string) => until(async () => (endpoints.taken.includes(what) ? true : undefined))

  const basic = `Basic ${Buffer.from('write-key-of-web-1:').toString('base64')}`
  expect(await post(`${collector?.collector}/v1/track`, '{"userId":"u","event":"E"}', basic)).toBe(200)
  expect(await post(`${collector?.collector}/v1/track`, '{"userId":"u"}', basic)).toBe(200)
  await untilTaken('/good track u')
  await untilTaken('/late track u')
  await until(async () => ((await installation.read(installation.topics.deadLetter)).length > 0 ? true : undefined))
  expect(await asOperator('/v1/audiences/Shoppers/syncs', 'm')).toBe(202)
  await untilTaken('/good identify m')
  expect(await asOperator('/v1/regulations', '{"userIds":["m"]}')).toBe(202)
  await untilTaken('/good delete m')
  await until(async () => (endpoints.taken.some(each => each.startsWith('/good track undefined')) ? true : undefined))
  const added = { sources: ['web'], webhooks: [{ url: `${endpoints.url}/added` }] }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${operators?.operator}${path}`, { ...init, headers: { authorization: 'Bearer operator-key-of-ada' } })
  expect((await ask('/v1/destinations/added', { method: 'PUT', body: JSON.stringify(added) })).status).toBe(201)
  await until(async () => {
    await post(`${collector?.collector}/v1/track`, '{"userId":"u","event":"E"}', basic)
    return endpoints.taken.includes('/added track u') ? true : undefined
  })
  // A response is partial when Kafka takes more than about a second. Without a right, all are.
  const askWhole = (path: string) =>
    until(async () => {
      const body = (await (await ask(path)).json()) as object
      return 'partial' in body ? undefined : body
    })
  expect(await askWhole('/v1/ledger')).toMatchObject({ totals: { difference: 0 } })
  expect(await (await ask('/v1/audiences')).json()).toMatchObject({
    audiences: [{ name: 'Shoppers', configured: true }],
  })
  expect(await askWhole('/v1/status')).toHaveProperty('groups')
  expect(await askWhole('/v1/destinations/late/status')).toHaveProperty('waiting')
  for (const topic of ['rejected', 'deletions', 'attempts', 'memberships'] as const)
    expect((await installation.read(installation.topics[topic])).length).toBeGreaterThan(0)

  const hashes = await Promise.all(services.map(async service => [...(await service.metrics()).keys()]))
  expect(new Set(hashes.flat().filter(series => series.startsWith('hookline_config_info{'))).size).toBe(1)
  const complaints = (await installation.log()).filter(({ level }) => level === 'warn' || level === 'error')
  // A coordinator that has just started may still be loading its groups. This error is unrelated to
  // rights.
  const unrelated = /login to the brokers is not encrypted|coordinator is loading|^kafkajs: Restarting the consumer/
  expect(complaints.map(({ msg }) => String(msg)).filter(text => !unrelated.test(text))).toEqual([])
}, 360_000)
