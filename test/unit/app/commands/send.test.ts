import { describe, expect, it } from '@jest/globals'
import { sendCommand } from '../../../../src/app/commands/send.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { createTestIo, runCommand } from '../../../support/process/in-process-command.ts'
import { answer, answering, type Script, startScriptedServer } from '../../../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()
const base = 'kafka: { brokers: ["127.0.0.1:1"] }\nregistry: { url: "http://127.0.0.1:1" }\n'
const sources = 'sources: [{ id: web, writeKey: web-key }, { id: server, writeKey: server-key }]\n'
const taken = answering(answer(200, {}, '{"success":true}'))

async function collector(script: Script = taken, host = '127.0.0.1') {
  const receiver = closing(await startScriptedServer(script))
  const folder = await configFolder({
    'hookline.yaml': `${base}${sources}collector: { listen: "${host}:${receiver.port}" }`,
  })
  const endpoint = `http://127.0.0.1:${receiver.port}`
  const send = (argv: readonly string[], stdin?: string) =>
    runCommand(['send', '--config', `${folder}/hookline.yaml`, ...argv], stdin === undefined ? {} : { stdin })
  const got = () => {
    const [request] = receiver.requests
    const { batch, writeKey } = JSON.parse(request?.body ?? '{}') as { batch: object[]; writeKey: string }
    return { path: request?.path, message: batch[0], writeKey }
  }
  return { receiver, endpoint, send, got }
}

describe('a message', () => {
  it('is sent to collector.listen of the configuration', async () => {
    const { send, got, endpoint } = await collector()
    const argv = ['track', '--user-id', 'u-1', '--event', 'Größe', '--properties', '{"total":1.5}', '--message-id', 'm']
    const { code, out, err } = await send(argv)
    expect({ code, out, err }).toEqual({ code: 0, out: `sent track m: accepted by ${endpoint}\n`, err: '' })
    const message = { type: 'track', messageId: 'm', userId: 'u-1', event: 'Größe', properties: { total: 1.5 } }
    expect(got()).toEqual({
      path: '/v1/batch',
      message: { ...message, timestamp: expect.any(String) },
      writeKey: 'web-key',
    })
  })

  it.each<[string, string[], Record<string, unknown>]>([
    [
      'identify',
      ['identify', '--anonymous-id', 'a', '--traits', '{"plan":"pro"}', '--timestamp', '2015-02-02'],
      { type: 'identify', anonymousId: 'a', traits: { plan: 'pro' }, timestamp: '2015-02-02T00:00:00.000Z' },
    ],
    [
      'page',
      ['page', '--user-id', 'u', '--name', 'Home', '--category', 'Docs', '--context', '{"ip":"203.0.113.7"}'],
      { type: 'page', name: 'Home', category: 'Docs', context: { ip: '203.0.113.7' } },
    ],
    ['screen', ['screen', '--user-id', 'u', '--name', 'Main'], { type: 'screen', name: 'Main' }],
    ['group', ['group', '--user-id', 'u', '--group-id', 'g'], { type: 'group', groupId: 'g' }],
    ['alias', ['alias', '--user-id', 'new', '--previous-id', 'old'], { type: 'alias', previousId: 'old' }],
    [
      'destinations',
      ['track', '--user-id', 'u', '--event', 'E', '--integrations', '{"All":false}'],
      { integrations: { All: false } },
    ],
  ])('%s', async (_, argv, message) => {
    const { send, got } = await collector()
    expect(await send(argv)).toMatchObject({ code: 0, err: '' })
    expect(got().message).toMatchObject(message)
  })

  it.each<[string, string[], string | undefined]>([
    ['with --message', ['--message', '{"type":"page","userId":12345678901234567890,"own":1}'], undefined],
    ['on stdin', [], '{"type":"page","userId":12345678901234567890,"own":1}\n'],
  ])('%s is sent with all its fields and unchanged ids', async (_, argv, stdin) => {
    const { send, got } = await collector()
    expect(await send(argv, stdin)).toMatchObject({ code: 0, err: '' })
    expect(got().message).toMatchObject({ type: 'page', userId: '12345678901234567890', own: 1 })
  })

  it('prints a JSON document with --json', async () => {
    const { send, endpoint } = await collector()
    const { out } = await send(['page', '--user-id', 'u', '--json'])
    expect(JSON.parse(out)).toEqual({ type: 'page', messageId: expect.any(String), endpoint, result: 'sent' })
  })
})

describe('source and endpoint', () => {
  const page = ['page', '--user-id', 'u']

  it('uses the write key of --source', async () => {
    const { send, got } = await collector()
    await send([...page, '--source', 'server'])
    expect(got().writeKey).toBe('server-key')
  })

  it('needs no configuration with --write-key and --endpoint', async () => {
    const { endpoint, got } = await collector()
    const argv = ['send', ...page, '--write-key', 'own', '--endpoint', `${endpoint}/in`]
    const { code, out } = await runCommand([...argv, '--message-id', 'm'])
    expect({ code, out }).toEqual({ code: 0, out: `sent page m: accepted by ${endpoint}/in\n` })
    expect(got()).toMatchObject({ path: '/in', writeKey: 'own' })
  })

  it('uses the loopback address when the collector listens on all addresses', async () => {
    const { send, got } = await collector(taken, '0.0.0.0')
    expect(await send(page)).toMatchObject({ code: 0 })
    expect(got().path).toBe('/v1/batch')
  })

  it.each([
    ['"[::]:1"', 'http://[::1]:1'],
    ['"[::1]:1"', 'http://[::1]:1'],
    ['localhost:1', 'http://localhost:1'],
  ])('with collector.listen %s sends to %s', async (listen, endpoint) => {
    const folder = await configFolder({ 'hookline.yaml': `${base}${sources}collector: { listen: ${listen} }` })
    // No collector listens, so the command fails.
    const { out } = await runCommand(['send', '--config', `${folder}/hookline.yaml`, '--json', ...page])
    expect(JSON.parse(out)).toMatchObject({ endpoint, result: 'failed' })
  })
})

describe('a message that is not accepted exits with 1 and the reason', () => {
  const page = ['page', '--user-id', 'u', '--message-id', 'm']

  it.each<[string, Script, string]>([
    [
      'an unknown write key',
      answering(answer(401, {}, '{"code":"invalid_write_key","message":"Nobody has it."}')),
      'sending failed with http_401 (refused): The collector responded with status 401 (invalid_write_key: Nobody has it.).',
    ],
    [
      'a rejected message',
      answering(
        answer(
          200,
          {},
          '{"success":true,"rejected":[{"index":0,"messageId":"m","code":"too_deep","message":"Flatten it."}]}',
        ),
      ),
      'sending failed with too_deep (rejected): Flatten it.',
    ],
    [
      'an unavailable collector',
      answering(answer(503, { 'Retry-After': '5' })),
      'sending failed with http_503 (not retried, because --retries is 0): The collector responded with status 503.',
    ],
    [
      'control characters in a response',
      answering(answer(400, {}, '{"code":"x","message":"\\u009b31m"}')),
      'sending failed with http_400 (refused): The collector responded with status 400 (x:  31m).',
    ],
  ])('%s', async (_, script, line) => {
    const { send, receiver } = await collector(script)
    expect(await send(page)).toEqual({ code: 1, out: '', err: `hookline: ${line}\n` })
    expect(receiver.requests).toHaveLength(1)
  })

  it('a refused connection', async () => {
    const { send, receiver } = await collector()
    await receiver.close()
    const { code, err } = await send(page)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^hookline: sending failed with .*ECONNREFUSED/),
    })
  })

  it('prints a JSON document for a failure with --json', async () => {
    const { send, endpoint } = await collector(answering(answer(401)))
    const { code, out } = await send([...page, '--json'])
    const facts = { type: 'page', messageId: 'm', endpoint, result: 'failed', reason: 'refused', code: 'http_401' }
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 1,
      out: { ...facts, detail: 'The collector responded with status 401.' },
    })
  })

  it('retries as often as --retries', async () => {
    const { send, receiver } = await collector(answering(answer(503), answer(200, {}, '{"success":true}')))
    expect(await send([...page, '--retries', '1'])).toMatchObject({ code: 0, err: '' })
    expect(receiver.requests).toHaveLength(2)
  })

  it.each<[string, string[], string | undefined, string]>([
    ['without event', ['track', '--user-id', 'u'], undefined, "missing_event: You must pass 'event'."],
    ['not JSON', [], '{', 'invalid_json: The message is not JSON: '],
    ['a deletion', [], '{"type":"delete"}', "unknown_type: 'type' must be one of identify, track,"],
  ])('is rejected before sending: %s', async (_, argv, stdin, line) => {
    const { send, receiver } = await collector()
    const { code, out, err } = await send(argv, stdin)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^hookline: [^\n]*\n$/)
    expect(err).toContain(`hookline: ${line}`)
    expect(receiver.requests).toEqual([])
  })
})

describe('usage errors exit with 2', () => {
  it.each<[string, string[], string]>([
    ['an unknown type', ['trak', '--user-id', 'u'], "message type: unknown value 'trak' (did you mean track?)"],
    ['options without a type', ['--user-id', 'u'], '--user-id needs a message type: hookline send <type> --user-id …'],
    ['options and a message', ['page', '--message', '{}'], 'a message type cannot be combined with --message'],
    ['properties that are not JSON', ['page', '--properties', 'x'], '--properties is not JSON: '],
    ['an unknown source', ['page', '--source', 'wbe'], "--source: unknown value 'wbe' (did you mean web?)"],
    ['two sources', ['page', '--source', 'web', '--write-key', 'k'], '--source cannot be combined with --write-key'],
    ['another scheme', ['page', '--user-id', 'u', '--endpoint', 'ftp://x'], "'endpoint' must begin with http:// or"],
    ['no message', [], 'no message is given: use a message type with options, --message, or JSON on stdin'],
    ['retries that are not a number', ['page', '--retries', 'x'], '--retries must be an integer >= 0'],
  ])('%s', async (_, argv, line) => {
    const { send, receiver } = await collector()
    const { code, out, err } = await send(argv, '')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`hookline: ${line}`)
    expect(receiver.requests).toEqual([])
  })

  it('collector.listen with port 0', async () => {
    const folder = await configFolder({ 'hookline.yaml': `${base}${sources}collector: { listen: "127.0.0.1:0" }` })
    expect(await runCommand(['send', '--config', `${folder}/hookline.yaml`, 'page'])).toEqual({
      code: 2,
      out: '',
      err: 'hookline: collector.listen has port 0 (any free port), so the actual port is unknown: use --endpoint\n',
    })
  })

  it('no message when stdin is a terminal', async () => {
    const io = createTestIo({ isTTY: true })
    const argv = ['--write-key', 'k', '--endpoint', 'http://127.0.0.1:1']
    await expect(sendCommand(io).parseAsync(argv, { from: 'user' })).rejects.toThrow('or JSON on stdin')
  })
})
