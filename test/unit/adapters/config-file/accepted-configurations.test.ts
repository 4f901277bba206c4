import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { loadConfigFile } from '../../../../src/adapters/config-file/config-file.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { revealed } from '../../../support/config/reveal-configuration-secrets.ts'
import { type CertificateAuthority, createAuthority, type Leaf } from '../../../support/network/certificates.ts'

let folder: string
let authority: CertificateAuthority
let client: Leaf

beforeAll(async () => {
  authority = createAuthority()
  client = authority.issue()
  folder = await configFolder({
    'pki/ca.pem': `Some text before.\n${authority.cert}${authority.cert}`,
    'pki/client.pem': client.cert,
    'pki/client.key': client.key,
    'secrets/user': 'hookline\r\n',
    'secrets/password': ' with spaces \n\n',
    'secrets/operator': 'operator-key',
    ...{ 'secrets/ada': 'key-of-ada\n', 'secrets/ada-new': 'new-key-of-ada\n' },
    'secrets/web': 'web-key\n',
    'secrets/token': 'Bearer crm-token\n',
    'secrets/url': 'https://hooks.example.com/crm-path?key=crm-query\n',
    'secrets/new': 'new-secret\n',
    'secrets/old': 'schlüssel\n',
    'destinations.d/secrets/new': 'new-secret\n',
  })
  await cp(new URL('../../../fixtures/config/accepted', import.meta.url), folder, { recursive: true })
})

/** The result has its secrets in plain text. */
async function load(name: string, env: Record<string, string> = {}) {
  const result = await loadValid(join(folder, name), env)
  return {
    settings: revealed(result.settings) as Settings,
    files: result.snapshot.paths().map(file => relative(folder, file)),
  }
}

const secret = (text: string) => ({ secret: text })

describe('a valid configuration', () => {
  it('needs brokers, a registry, sources and destinations; the rest has defaults for production', async () => {
    const { settings, files } = await load('minimal.yaml')
    expect(settings).toEqual({
      kafka: { brokers: ['kafka:9092'], clientId: 'hookline', tls: undefined, sasl: undefined },
      topics: { prefix: 'hookline', partitions: 12, replicationFactor: 3 },
      registry: { url: 'http://registry:8081', auth: undefined, ca: undefined },
      collector: {
        listen: { host: '0.0.0.0', port: 8080 },
        operatorKey: undefined,
        ...{ maxBodyBytes: 4_194_304, connectionsPerAddress: 2_500, ratePerSource: undefined },
        ...{ clientAddressHeader: undefined, bodyBytesPerAddress: undefined },
      },
      ...{ operator: { keys: [] }, operatorListen: undefined, ops: { listen: { host: '0.0.0.0', port: 9464 } } },
      log: { level: 'info' },
      network: { allow: [], ports: undefined, httpsOnly: false, ca: undefined },
      delivery: {
        timeout: 5_000,
        schedule: [10, 30, 60, 300, 900, 1_800, 3_600, 3_600, 3_600].map(seconds => seconds * 1_000),
        window: 14_400_000,
        ordering: 'key',
        transport: 'got',
        maxInFlight: 512,
        perWebhook: 64,
        perHost: 128,
        attemptsTopic: 'failures',
      },
      payload: { userAgent: 'Hookline', messageIdHeader: true, anonymousId: 'fallback', standardWebhooks: false },
      sources: [{ id: 'web', writeKeys: [secret('web-key')] }],
      destinations: [
        {
          id: 'crm',
          enabled: true,
          paused: false,
          sources: ['web'],
          secrets: [],
          signingKeys: [],
          auth: undefined,
          policy: {},
          lifecycle: { pauseKeepsWindow: false, onGone: 'notify' },
          // The hash is that of: printf %s https://crm.example.com/hooks | sha256sum
          webhooks: [
            { label: '0', url: 'https://crm.example.com/hooks', urlHash: '49dc19e4', headers: {}, traceHeaders: false },
          ],
        },
      ],
      audiences: { emitPerSecond: 500, list: [] },
      canary: undefined,
      traces: undefined,
    })
    expect(files).toEqual(['minimal.yaml'])
  })

  it('may have every key, with secrets and certificates in files', async () => {
    const { settings, files } = await load('full.yaml')
    const ca = `Some text before.\n${authority.cert}${authority.cert}`
    const account = { username: secret('hookline'), password: secret(' with spaces \n') }
    expect(settings.kafka).toEqual({
      brokers: ['kafka-1:9092', '[fd00::2]:9093'],
      clientId: 'hookline-eu',
      tls: { ca, cert: client.cert, key: secret(client.key) },
      sasl: { mechanism: 'scram-sha-512', ...account },
    })
    expect(settings.registry).toEqual({ url: 'https://registry.example.com/apis/ccompat/v7', auth: account, ca })
    expect(settings.collector).toEqual({
      listen: { host: '::', port: 8000 },
      operatorKey: secret('operator-key'),
      ...{ maxBodyBytes: 1_048_576, ratePerSource: 1_000 },
      ...{ clientAddressHeader: 'X-Forwarded-For', connectionsPerAddress: 5_000, bodyBytesPerAddress: 8_388_608 },
    })
    expect(settings.operator.keys[0]?.secrets).toEqual([secret('new-key-of-ada'), secret('key-of-ada')])
    expect(settings.network).toEqual({
      allow: ['10.0.0.0/8', 'fd00::/8'],
      ports: [443, 8443],
      httpsOnly: true,
      ca,
      proxy: {
        url: 'https://proxy.example.com:3129',
        credentials: account,
        noProxy: ['crm.example.com', '.internal.example.com', '10.0.0.0/8', '::1'],
        resolve: 'proxy',
      },
    })
    const { schedule, timeout, transport, ordering } = settings.delivery
    expect([schedule, timeout, transport, ordering]).toEqual([[10_000, 10_000, 90_000], 2_500, 'undici', 'none'])
    expect(settings.traces).toEqual({ endpoint: 'http://traces:4318', sample: 0.25 })
    expect(settings.payload).toMatchObject({ userAgent: 'Acme', messageIdHeader: false, anonymousId: 'always' })
    expect(settings.sources.map(({ writeKeys }) => writeKeys)).toEqual([[secret('web-key')], [secret('app-key')]])
    expect(settings.destinations.slice(0, 2)).toMatchObject([
      {
        ...{ id: 'crm', enabled: true, paused: true, sources: ['web', 'app.v2'] },
        secrets: [secret('new-secret'), secret('old-secret')],
        webhooks: [
          { label: 'main', headers: { Authorization: 'Bearer crm-token', 'X-Empty': '' } },
          { label: '1', url: 'https://10.1.2.3:8443/hooks?token=crm-query' },
        ],
        policy: {
          ...{ timeout: 2_000, schedule: [10_000, 120_000], window: 1_800_000, ordering: 'key' },
          standardWebhooks: false,
        },
        lifecycle: { pauseKeepsWindow: true },
      },
      {
        id: 'warehouse',
        enabled: false,
        secrets: [secret('new-secret'), secret('schlüssel')],
        tlsIdentity: { cert: client.cert, key: secret(client.key), ca },
        webhooks: [{ traceHeaders: true }],
        filter: {
          types: ['track', 'identify'],
          events: { include: ['Order *'], exclude: ['Order Viewed'] },
          where: [
            { path: 'properties.total', op: 'gte', value: 10 },
            { path: 'context.app.name', op: 'in', value: ['shop', 7, true] },
          ],
          sample: { percent: 0.5, by: 'user' },
        },
      },
    ])
    expect(files).toContain('secrets/old')
  })

  it('loads a destination from each visible file of destinationsFrom, by name, with files below it', async () => {
    const { settings, files } = await load('full.yaml')
    expect(settings.destinations.map(({ id }) => id)).toEqual(['crm', 'warehouse', 'billing', 'erp'])
    expect(settings.destinations[3]?.secrets).toEqual([secret('new-secret')])
    expect(files.filter(file => file.startsWith('destinations.d'))).toEqual([
      'destinations.d',
      'destinations.d/10-billing.json',
      'destinations.d/20-erp.yml',
      'destinations.d/secrets/new',
    ])
  })

  it('may be JSON, indented with tabs', async () => {
    const input = {
      $schema: './schema.json',
      kafka: { brokers: ['kafka:9092'] },
      registry: { url: 'http://registry:8081' },
      sources: [{ id: 'web', writeKey: 'web-key' }],
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'https://crm.example.com/hooks' }] }],
    }
    await writeFile(join(folder, 'minimal.json'), JSON.stringify(input, null, '\t').replaceAll('/', '\\/'))
    expect((await load('minimal.json')).settings).toEqual((await load('minimal.yaml')).settings)
  })

  it.each([
    ['with a byte order mark', (text: string) => `\ufeff${text}`],
    ['with Windows line endings', (text: string) => text.replaceAll('\n', '\r\n')],
    ['with document markers', (text: string) => `%YAML 1.2\n---\n${text}...\n`],
  ])('may be %s', async (_, change) => {
    const minimal = await readFile(join(folder, 'minimal.yaml'), 'utf8')
    await writeFile(join(folder, 'changed.yaml'), change(minimal))
    expect((await load('changed.yaml')).settings).toEqual((await load('minimal.yaml')).settings)
  })
})

describe('the environment', () => {
  it('is substituted once, after the file is parsed, with the type of the schema', async () => {
    const injected = `x"}, y: [z \${HOST}`
    const env = {
      BROKERS: 'kafka-1:9092, kafka-2:9092',
      HOST: 'registry',
      N: '6',
      SECRET: '123',
      EMPTY: '',
      SAMPLE: '0.5',
      PORTS: '443, 8443',
    }
    const { settings } = await load('environment.yaml', { ...env, INJECTED: injected })
    expect(settings.kafka).toMatchObject({ brokers: ['kafka-1:9092', 'kafka-2:9092'], clientId: injected })
    expect(settings.registry.url).toBe(`http://registry:8081/\${HOST}`)
    expect(settings.topics).toEqual({ prefix: 'hookline', partitions: 6, replicationFactor: 1 })
    expect(settings.payload.messageIdHeader).toBe(false)
    expect(settings.network.ports).toEqual([443, 8443])
    expect(settings.traces).toEqual({ endpoint: undefined, sample: 0.5 })
    expect(settings.sources[0]?.writeKeys).toEqual([secret('123')])
    expect(settings.destinations[0]).toMatchObject({ paused: true, secrets: [secret('fallback')] })
    expect(settings.destinations[0]?.webhooks[0]?.headers).toEqual({
      'X-Literal': `\${SECRET} $ $$ {SECRET}`,
      'X-Lines': 'registry registry',
    })
  })
})

describe('credentials in files', () => {
  const more = `
sources: [{ id: web, writeKey: [first-key, web-key, third-key] }, { id: app, writeKeyFile: [secrets/new, secrets/old] }]
destinations:
  - id: crm
    sources: [web]
    policy: { standardWebhooks: true }
    webhooks: [{ urlFile: secrets/url, headers: { Authorization: { file: secrets/token }, X-Name: plain } }]
`
  const text = `kafka: { brokers: [a:9092] }\nregistry: { url: http://registry:8081 }${more}`

  it('are header values, URLs and up to three write keys', async () => {
    await writeFile(join(folder, 'credentials.yaml'), text)
    const { settings } = await load('credentials.yaml')
    expect(settings.sources.map(({ writeKeys }) => writeKeys)).toEqual([
      [secret('first-key'), secret('web-key'), secret('third-key')],
      [secret('new-secret'), secret('schlüssel')],
    ])
    expect(settings.destinations[0]).toMatchObject({
      policy: { standardWebhooks: true },
      webhooks: [
        {
          url: secret('https://hooks.example.com/crm-path?key=crm-query'),
          headers: { Authorization: secret('Bearer crm-token'), 'X-Name': 'plain' },
        },
      ],
    })
  })

  it.each([
    ['credentials.yaml', /(first|web|third)-key|new-secret|schlüssel|crm-(token|path|query)/],
    ['full.yaml', /(web|app|operator)-key|(new|old)-secret|schlüssel|with spaces|BEGIN RSA/],
  ])('are never printed: %s', async (file, secrets) => {
    await writeFile(join(folder, 'credentials.yaml'), text)
    const result = await loadConfigFile(join(folder, file), {})
    expect(`${JSON.stringify(result)}${inspect(result, { depth: 9 })}`).not.toMatch(secrets)
  })
})
