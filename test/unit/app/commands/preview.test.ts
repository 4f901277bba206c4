import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'
import { createGotTransport } from '../../../../src/adapters/webhook/got.ts'
import { previewCommand } from '../../../../src/app/commands/preview.ts'
import type { CommandIo } from '../../../../src/app/create-command.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../../../src/core/webhook-ports.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { createAuthority } from '../../../support/network/certificates.ts'
import { createTestIo, runCommand } from '../../../support/process/in-process-command.ts'
import { startSink } from '../../../support/webhook/sink.ts'

const base = 'kafka: { brokers: ["127.0.0.1:1"] }\nregistry: { url: "http://127.0.0.1:1" }\n'
const two = `${base}
sources: [{ id: web, writeKey: k1 }, { id: app, writeKey: k2 }]
destinations:
  - { id: crm, sources: [web], sharedSecret: [s3cret, older], webhooks: [
      { url: "https://crm.example.com/hooks?tenant=7", headers: { Authorization: "Bearer t0ken" } },
      { id: backup, url: "http://backup.example.com:8080/" }] }
  - { id: shop, sources: [web, app], paused: true, webhooks: [{ url: "https://shop.example.com/" }] }
  - { id: old, sources: [web], enabled: false, webhooks: [{ url: "https://old.example.com/" }] }
`
const folder = await configFolder({ 'two.yaml': two, 'one.yaml': `${base}sources: [{ id: web, writeKey: k1 }]` })
const track = '{"type":"track","messageId":"m-1","userId":"u-1","event":"Größe","timestamp":"2026-03-01T10:00:00Z"}'
const body =
  '{"version":1,"type":"track","userId":"u-1","event":"Größe","properties":{},"timestamp":"2026-03-01T10:00:00.000Z"}'
const signature = createHmac('sha1', 's3cret').update(body).digest('hex')

async function preview(argv: readonly string[], stdin: string = track, file = 'two.yaml') {
  const command = (io: CommandIo) => previewCommand(io, new ManualClock())
  const entry = { name: 'preview', summary: '', load: async () => command }
  return runCommand(['preview', '--config', `${folder}/${file}`, ...argv], { stdin }, [entry])
}

describe('the output', () => {
  it('has each request in the .http format', async () => {
    const { code, out, err } = await preview(['--source', 'web'])
    expect({ code, err }).toEqual({
      code: 0,
      err: "hookline: destination 'shop' is paused: until you resume it, its requests would wait in a retry topic, at most until the end of their retry window\nhookline: disabled: destination 'old' would not get the message, because its key 'enabled' is false\n",
    })
    const common = [
      'User-Agent: Hookline/1.0',
      'Content-Type: application/json',
      'Accept: */*',
      'Accept-Encoding: identity',
    ]
    const signed = ['X-Message-Id: m-1', `X-Signature: ${signature}`]
    const rest = ['Content-Length: 116', 'Connection: keep-alive', '', body, '']
    expect(out.split('\n').slice(0, -1)).toEqual([
      ...['### crm, webhook 0', 'POST https://crm.example.com/hooks?tenant=7', ...common],
      ...['Authorization: Bearer t0ken', ...signed, 'Host: crm.example.com', ...rest],
      ...['### crm, webhook backup', 'POST http://backup.example.com:8080/', ...common],
      ...[...signed, 'Host: backup.example.com:8080', ...rest],
      ...['### shop, webhook 0', 'POST https://shop.example.com/', ...common],
      ...['X-Message-Id: m-1', 'Host: shop.example.com', ...rest],
    ])
  })

  it('has only requests to the destination of --destination', async () => {
    const { out, err } = await preview(['--source', 'app', '--destination', 'shop'])
    expect(out.match(/^### .*/gm)).toEqual(['### shop, webhook 0'])
    expect(err).toBe(
      "hookline: destination 'shop' is paused: until you resume it, its requests would wait in a retry topic, at most until the end of their retry window\n",
    )
  })

  it('is a JSON array with --json', async () => {
    const { out } = await preview(['--source', 'web', '--destination', 'crm', '--json'])
    expect(JSON.parse(out)).toEqual([
      {
        destination: 'crm',
        webhook: '0',
        url: 'https://crm.example.com/hooks?tenant=7',
        headers: expect.objectContaining({ Authorization: 'Bearer t0ken', 'X-Signature': signature }),
        body,
      },
      expect.objectContaining({ destination: 'crm', webhook: 'backup', url: 'http://backup.example.com:8080/', body }),
    ])
  })

  it('adds a missing message id and timestamp', async () => {
    const { out } = await preview(['--source', 'app'], '{"type":"page","anonymousId":12345678901234567890}')
    expect(out).toContain('X-Message-Id: id-1\n')
    expect(out).toContain(
      '{"version":1,"type":"page","anonymousId":"12345678901234567890","properties":{},"timestamp":"2026-03-01T00:00:00.000Z"}',
    )
  })

  it('reports the number of removed keys', async () => {
    const hostile = track.replace('}', ',"properties":{"__proto__":{},"a":1}}')
    const { out, err } = await preview(['--source', 'web', '--destination', 'crm'], hostile)
    expect(err).toBe(
      'hookline: the message has 1 key named "__proto__"; the requests do not contain keys of this name, because Hookline removes them from every message\n',
    )
    expect(out).toContain('"properties":{"a":1}')
  })
})

describe('a message without recipients exits with 1 and the reason', () => {
  const not = (id: string) => track.replace('}', `,"integrations":${id}}`)

  it.each<[string, string[], string, string]>([
    ['not JSON', ['--source', 'web'], '{', 'invalid_json: The message is not JSON: '],
    [
      'excluded by the message',
      ['--source', 'app'],
      not('{"Webhooks":false}'),
      "not_selected: the field 'integrations' of the message excludes destination 'shop'",
    ],
    [
      'excluded for different reasons',
      ['--source', 'web'],
      not('{"All":false}'),
      "not_selected: the field 'integrations' of the message excludes destination 'crm'; not_selected: the field 'integrations' of the message excludes destination 'shop'; disabled: destination 'old' would not get the message, because its key 'enabled' is false",
    ],
    [
      'a disabled destination',
      ['--source', 'web', '--destination', 'old'],
      track,
      "disabled: destination 'old' would not get the message, because its key 'enabled' is false",
    ],
    [
      'a destination that is connected to another source',
      ['--source', 'app', '--destination', 'crm'],
      track,
      "no_destination: destination 'crm' is not connected to source 'app'",
    ],
  ])('%s', async (_name, argv, stdin, line) => {
    const { code, out, err } = await preview(argv, stdin)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^hookline: [^\n]*\n$/)
    expect(err.startsWith(`hookline: ${line}`)).toBe(true)
  })

  it('the only source has no destinations', async () => {
    const err =
      "hookline: no_destination: no destination is connected to source 'web': add this source to the list 'sources' of a destination\n"
    expect(await preview([], track, 'one.yaml')).toEqual({ code: 1, out: '', err })
  })
})

describe('a filter', () => {
  const filter = `{ types: [track, identify], events: { include: ["Größ*", Order Completed], exclude: [Order Viewed, "*2"] },
      sample: { percent: 40 }, where: [{ path: properties.total, op: gte, value: 10 }, { path: userId, op: prefix, value: u- }] }`
  const config = `${base}
sources: [{ id: web, writeKey: k1 }]
destinations:
  - { id: all, sources: [web], webhooks: [{ url: "https://all.example.com/" }] }
  - { id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/" }], filter: ${filter} }`
  const order = { type: 'track', userId: 'u-1', event: 'Order Completed', properties: { total: 12 } }
  const shownFor = async (change: object) => {
    const place = await configFolder({ 'hookline.yaml': config })
    const stdin = JSON.stringify({ ...order, ...change })
    const { code, out, err } = await runCommand(['preview', '--config', `${place}/hookline.yaml`], { stdin })
    return { code, to: out.match(/^### \w+/gm), err }
  }

  it('lets a message pass', async () => {
    expect(await shownFor({})).toEqual({ code: 0, to: ['### all', '### crm'], err: '' })
  })

  it.each<[string, object, string]>([
    ['types', { type: 'page' }, 'filter.types = ["track","identify"]'],
    ['events.include', { event: 'Signed Up' }, 'filter.events.include = ["Größ*","Order Completed"]'],
    ['events.exclude', { event: 'Größe 2' }, 'filter.events.exclude[1] = "*2"'],
    ['sample', { userId: 'u-3' }, 'filter.sample.percent = 40'],
    ['where', { properties: { total: 9 } }, 'filter.where[0] = {"path":"properties.total","op":"gte","value":10}'],
    [
      'where, the second condition',
      { userId: 'v-2' },
      'filter.where[1] = {"path":"userId","op":"prefix","value":"u-"}',
    ],
  ])('names the rule that excludes a message: %s', async (_, change, rule) => {
    const err = `hookline: filtered: the rule ${rule} of destination 'crm' excludes the message\n`
    expect(await shownFor(change)).toEqual({ code: 0, to: ['### all'], err })
  })
})

const noMessage = 'stdin has no message; send one as JSON: hookline preview < message.json'

describe('usage errors exit with 2', () => {
  it.each<[string, string[], string, string]>([
    [
      'no --source with several sources',
      [],
      track,
      'the source of the message is unknown: name it with --source; the configuration file has these sources: web, app',
    ],
    ['an unknown source', ['--source', 'wbe'], track, "--source: unknown value 'wbe' (did you mean web?)"],
    [
      'an unknown destination',
      ['--source', 'web', '--destination', 'cmr'],
      track,
      "--destination: unknown value 'cmr' (did you mean crm?)",
    ],
    ['empty stdin', ['--source', 'web'], ' \n', noMessage],
  ])('%s', async (_name, argv, stdin, line) => {
    expect(await preview(argv, stdin)).toEqual({ code: 2, out: '', err: `hookline: ${line}\n` })
  })

  it('stdin is a terminal', async () => {
    const io = createTestIo()
    const command = previewCommand({ ...io, stdin: Object.assign(io.stdin, { isTTY: true }) })
    const argv = ['--config', `${folder}/two.yaml`, '--source', 'web']
    await expect(command.parseAsync(argv, { from: 'user' })).rejects.toThrow('stdin has no message')
  })
})

describe('credentials from files', () => {
  const config = `${base}
sources: [{ id: web, writeKey: k1 }]
destinations:
  - { id: crm, sources: [web], webhooks: [{ urlFile: url, headers: { Authorization: { file: token }, X-Own: own } }] }`
  const shownBy = async (...argv: string[]) => {
    const files = {
      'hookline.yaml': config,
      url: 'https://crm.example.com:8443/s3cret?key=1\n',
      token: 'Bearer t0ken\n',
    }
    const place = await configFolder(files)
    const given = ['preview', '--config', `${place}/hookline.yaml`, '--json', ...argv]
    const { out, err } = await runCommand(given, { stdin: track })
    const [shown] = JSON.parse(out) as [Omit<WebhookCall, 'body'>]
    return { url: shown.url, ...shown.headers, said: out + err }
  }

  it('are masked: the path of a URL, the value of a header', async () => {
    const { said, ...shown } = await shownBy()
    expect(shown).toMatchObject({
      url: 'https://crm.example.com:8443/***',
      Authorization: '***',
      'X-Own': 'own',
      Host: 'crm.example.com:8443',
    })
    expect(said).not.toMatch(/s3cret|t0ken/)
  })

  it('are shown with --show-secrets', async () => {
    expect(await shownBy('--show-secrets')).toMatchObject({
      url: 'https://crm.example.com:8443/s3cret?key=1',
      Authorization: 'Bearer t0ken',
    })
  })
})

describe('a destination with every kind of authentication, a filter and a policy', () => {
  const client = createAuthority().issue({ usage: 'client' })
  const key = `whsk_${Buffer.alloc(32, 7).toString('base64')}`
  const config = `${base}sources: [{ id: web, writeKey: a-write-key-of-web }]
destinations:
  - id: crm
    sources: [web]
    signingKey: "${key}"
    auth: { oauth2: { tokenUrl: "https://login.example.com", clientId: a, clientSecret: a-client-secret } }
    tls: { clientCert: ${JSON.stringify(client.cert)}, clientKeyFile: client.key, ca: "\${CA}" }
    policy: { signing: ed25519, standardWebhooks: true, timeout: 2s, ratePerSecond: 5, maxConcurrency: 16 }
    lifecycle: { pauseKeepsWindow: true }
    filter: { events: { include: ["Gr*"] } }
    webhooks: [{ url: "https://crm.example.com/" }]
`
  const files = configFolder({ 'hookline.yaml': config, 'client.key': client.key })
  const run = async (argv: readonly string[], stdin = '') => {
    const [command = '', ...more] = argv
    const env = { CA: client.cert }
    return runCommand([command, '--config', `${await files}/hookline.yaml`, ...more], { stdin, env })
  }

  it('is accepted by check-config without a warning', async () => {
    expect(await run(['check-config'])).toMatchObject({ code: 0, err: '' })
  })

  it.each([[[]], [['--show-secrets']]])('shows the signature of the private key, and no secret: %j', async options => {
    const { out, err } = await run(['preview', '--json', ...options], track)
    const [shown] = JSON.parse(out) as [Omit<WebhookCall, 'body'>]
    // The command requests no access token, so it cannot show one.
    expect(shown.headers).toMatchObject({ Authorization: 'Bearer ***' })
    expect(shown.headers['webhook-signature']).toMatch(/^v1a,[^ ]+$/)
    for (const secret of [key, 'a-client-secret', 'PRIVATE KEY']) expect(out + err).not.toContain(secret)
  })
})

describe('the preview equals the real request', () => {
  let transport: WebhookTransport | undefined
  afterEach(() => transport?.close())

  it('including all headers', async () => {
    const { url, seen } = await startSink()
    const config = `${base}
sources: [{ id: web, writeKey: k1 }]
network: { allow: ["127.0.0.0/8"] }
payload: { standardWebhooks: true }
destinations: [{ id: crm, sources: [web], sharedSecret: s, webhooks: [{ url: "${url}/hooks?a=1", headers: { X-Own: "ü" } }] }]`
    const sent = await configFolder({ 'hookline.yaml': config })
    const { out } = await runCommand(['preview', '--config', `${sent}/hookline.yaml`, '--json'], { stdin: track })
    const [shown] = JSON.parse(out) as [Omit<WebhookCall, 'body'> & { readonly body: string }]
    const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
    transport = createGotTransport({ network: () => network, timeout: durationMs(60_000), clock: processClock })
    // Node adds these headers itself, so the transport must not get them.
    const added = ['Host', 'Content-Length', 'Connection']
    const headers = Object.fromEntries(Object.entries(shown.headers).filter(([name]) => !added.includes(name)))
    const call = { url: shown.url, headers, body: Buffer.from(shown.body) }
    const result = await new Promise<CallResult>(resolve => transport?.post(call, resolve))
    expect(result).toMatchObject({ kind: 'answered', status: 200 })
    const lowerCase = Object.entries(shown.headers).map(([name, value]) => [name.toLowerCase(), value])
    expect(seen).toMatchObject([{ path: '/hooks?a=1', body: shown.body }])
    expect(seen[0]?.headers).toEqual(Object.fromEntries(lowerCase))
  })
})
