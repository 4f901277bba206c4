import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { configFolder } from '../../../support/config/config-folder.ts'
import { objectsCommand } from '../../../support/operator/run-operator-api-commands.ts'

/* Tests of `hookline preview` with the operator API. */

const api = objectsCommand()
afterAll(async () => (await api).close())
const track = '{"type":"track","messageId":"m-1","userId":"u-1","event":"Größe","timestamp":"2026-03-01T10:00:00Z"}'
const body =
  '{"version":1,"type":"track","userId":"u-1","event":"Größe","properties":{},"timestamp":"2026-03-01T10:00:00.000Z"}'
const run = async (argv: readonly string[], stdin = track) => (await api).run(['preview', ...argv], { stdin })

beforeAll(async () => {
  const { put } = await api
  const filter = { events: { include: ['Gr*'] } }
  const webhooks = [{ id: 'main', url: 'https://crm.example.com/hooks/T0KEN' }]
  await put('destination', { id: 'crm', sources: ['web'], sharedSecret: 'a-secret-of-crm', filter, webhooks })
  await put('destination', { id: 'shop', sources: ['web', 'server'], paused: true, webhooks })
})

it('shows the requests to a destination of the config topic, without secrets', async () => {
  const { code, out, err } = await run(['--destination', 'crm', '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toEqual([
    {
      ...{ destination: 'crm', webhook: 'main', url: 'https://crm.example.com/***', body },
      headers: expect.objectContaining({ 'X-Message-Id': 'm-1', 'X-Signature': '***' }),
    },
  ])
  const large = '{"type":"page","anonymousId":12345678901234567890}'
  const shop = await run(['--destination', 'shop', '--source', 'server'], large)
  expect(shop.out).toContain('### shop, webhook main\nPOST https://crm.example.com/***\n')
  expect(shop.out).toContain('"anonymousId":"12345678901234567890"')
  expect(shop.err).toContain("destination 'shop' is paused")
})

it('names the rule that excludes a message', async () => {
  expect(await run(['--destination', 'crm'], track.replace('Größe', 'Order'))).toEqual({
    code: 1,
    out: '',
    err: 'hookline: filtered: The rule filter.events.include = ["Gr*"] of destination \'crm\' excludes the message.\n',
  })
})

it.each<[number, string, string[]]>([
  [1, 'no destination has the id cmr', ['--destination', 'cmr']],
  [
    1,
    'source: must be the id of a source (specify the source of the message: web or server)',
    ['--destination', 'shop'],
  ],
  [2, 'add --destination <id>', []],
  [2, 'the operator API never shows secrets', ['--destination', 'crm', '--show-secrets']],
])('exits with %i: %s', async (code, text, argv) => {
  const { err, ...rest } = await run(argv)
  expect(rest).toEqual({ code, out: '' })
  expect(err).toContain(text)
})

it('reads the file of --config, which is refused with --operator-url', async () => {
  const folder = await configFolder({
    'hookline.yaml': `kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: k1 }]
destinations: [{ id: shop, sources: [web], webhooks: [{ url: "https://shop.example.com/" }] }]`,
  })
  const { url } = await api
  const argv = ['--config', `${folder}/hookline.yaml`, '--destination', 'shop', '--source', 'web']
  expect((await run(argv)).out).toContain('POST https://shop.example.com/\n')
  expect(await run([...argv, '--operator-url', url])).toEqual({
    ...{ code: 2, out: '' },
    err: 'hookline: use only one of --config and --operator-url\n',
  })
})
