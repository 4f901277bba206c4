import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { type Consumer, installPacked } from '../../support/client/packed-library.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { answer, answering, type Script, startScriptedServer } from '../../support/webhook/scripted-tcp-server.ts'

/*
 * Tests of the npm package of the client, which is packed, unpacked to an empty folder, and used
 * there.
 */

let consumer: Consumer
beforeAll(async () => {
  consumer = await installPacked('@hookline/client')
})
afterAll(() => consumer.close())

const closing = closingAfterEach()
const ok = answer(200, {}, '{"success":true}')

async function collector(script: Script = answering(ok)) {
  const receiver = closing(await startScriptedServer(script))
  return {
    receiver,
    endpoint: `http://127.0.0.1:${receiver.port}`,
    messages: () => receiver.requests.flatMap(({ body }) => JSON.parse(body).batch as Record<string, unknown>[]),
  }
}
const threeLines = (endpoint: string, options = '') => `
  import { Analytics } from '@hookline/client'
  const analytics = new Analytics('key', { endpoint: '${endpoint}', ${options} })
  for (let n = 0; n < 50; n += 1) analytics.track({ userId: 'u', event: 'E' + n })
`

describe('the package', () => {
  it('contains only the library as ES modules and CommonJS', () => {
    const { files } = consumer.packed['@hookline/client']!
    const entry = 'packages/client/src/index'
    const needed = ['package.json', 'README.md', 'LICENSE', `dist/${entry}.js`, `dist/${entry}.d.ts`]
    expect(files).toEqual(expect.arrayContaining([...needed, `dist/cjs/${entry}.js`, `dist/cjs/${entry}.d.ts`]))
    const places =
      /^dist\/(cjs\/)?(packages\/client|src\/core\/(message|branded-type\.|time\.))|^dist\/cjs\/package\.json$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
    expect(files.filter(file => !places.test(file))).toEqual([])
  })

  it('installs from its tarball without dependencies', async () => {
    const { tarball, manifest } = consumer.packed['@hookline/client']!
    const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies']
    expect(Object.keys(manifest).filter(key => kinds.includes(key))).toEqual([])
    const folder = await mkdtemp(join(tmpdir(), 'hookline-alone-'))
    try {
      await promisify(execFile)('npm', ['install', '--offline', tarball], { cwd: folder })
      const packages = ['.', '@hookline'].map(scope => readdir(join(folder, 'node_modules', scope)))
      const [all = [], scoped = []] = await Promise.all(packages)
      expect([...all.filter(name => !name.startsWith('.')), ...scoped]).toEqual(['@hookline', 'client'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('a script', () => {
  it.each([
    ['ES module', 'script.mjs', (text: string) => text],
    ['CommonJS', 'script.cjs', (text: string) => text.replace(/import (.*) from (.*)/, 'const $1 = require($2)')],
  ])('%s: exits immediately after sending all messages in order', async (_, file, turn) => {
    const { endpoint, messages } = await collector()
    // The flush timer is set to one hour. The script must not wait for it.
    await consumer.write(file, turn(threeLines(endpoint, 'flushAfter: 3_600_000')))
    const { code, stderr } = await consumer.node(file)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(messages().map(({ event }) => event)).toEqual(Array.from({ length: 50 }, (_each, n) => `E${n}`))
  })

  it('sends over TLS with the CAs that Node trusts', async () => {
    const authority = createAuthority()
    const receiver = closing(await startScriptedServer(answering(ok), authority.issue({ names: ['127.0.0.1'] })))
    await consumer.write('authority.pem', authority.cert)
    await consumer.write('tls.mjs', threeLines(`https://127.0.0.1:${receiver.port}`))
    const { code, stderr } = await consumer.node('tls.mjs', { NODE_EXTRA_CA_CERTS: './authority.pem' })
    expect({ code, stderr, requests: receiver.requests.length }).toEqual({ code: 0, stderr: '', requests: 3 })
  })

  it('retries before the exit when the endpoint fails', async () => {
    const { endpoint, messages } = await collector(answering(answer(503), ok))
    await consumer.write('fault.mjs', threeLines(endpoint))
    expect(await consumer.node('fault.mjs')).toMatchObject({ code: 0, stderr: '' })
    expect(new Set(messages().map(({ messageId }) => messageId)).size).toBe(50)
  })

  it('exits after exitTimeoutMs when the endpoint is unreachable, and reports the failed messages', async () => {
    const { endpoint, receiver } = await collector()
    await receiver.close()
    await consumer.write('dead.mjs', threeLines(endpoint, 'exitTimeoutMs: 300'))
    const { code, stderr } = await consumer.node('dead.mjs')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^hookline analytics: 50 messages not delivered: out_of_time/),
    })
  })

  it('exits after exitTimeoutMs when the endpoint does not respond', async () => {
    const { endpoint, receiver } = await collector(() => {})
    await consumer.write('silent.mjs', threeLines(endpoint, 'timeoutMs: 2_000, exitTimeoutMs: 3_000'))
    const { code, stderr } = await consumer.node('silent.mjs')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^hookline analytics: 50 messages not delivered: out_of_time/),
    })
    expect(receiver.requests.length).toBeGreaterThan(0)
  })

  it.each([
    ['synchronously', ''],
    ['later', 'await null'],
  ])('exits after exitTimeoutMs when onFailure queues the messages again %s', async (_, before) => {
    const { endpoint, receiver } = await collector(answering(answer(401)))
    const onFailure = `onFailure: async ({ messages }) => {
      ${before}
      for (const message of messages) analytics.track(message)
    }`
    await consumer.write(
      'again.mjs',
      `import { Analytics } from '@hookline/client'
      const analytics = new Analytics('key', { endpoint: '${endpoint}', exitTimeoutMs: 300, ${onFailure} })
      analytics.track({ userId: 'u', event: 'E' })`,
    )
    expect(await consumer.node('again.mjs')).toMatchObject({ code: 0 })
    expect(receiver.requests.length).toBeGreaterThan(1)
  })

  it.each([
    ['without onFailure', {}],
    ['with DEBUG=analytics', { DEBUG: 'analytics' }],
  ])('continues when the reader of its stderr has closed the pipe: %s', async (_, env) => {
    const { endpoint } = await collector(answering(answer(401)))
    const lines = threeLines(endpoint, 'size: 1')
    await consumer.write('closed.mjs', `${lines}await analytics.close(); console.log(analytics.counts.failed)`)
    const child = spawn(process.execPath, ['closed.mjs'], {
      cwd: consumer.folder,
      env: { ...env, PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stderr.destroy()
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '50\n' })
  })

  it('sends from a worker thread', async () => {
    const { endpoint, messages } = await collector()
    await consumer.write('thread.mjs', threeLines(endpoint))
    await consumer.write('main.mjs', "import { Worker } from 'node:worker_threads'\nnew Worker('./thread.mjs')")
    expect(await consumer.node('main.mjs')).toMatchObject({ code: 0, stderr: '' })
    expect(messages()).toHaveLength(50)
  })

  it('reports messages lost by process.exit()', async () => {
    const { endpoint } = await collector()
    await consumer.write('exit.mjs', `${threeLines(endpoint)}process.exit(3)`)
    const { code, stderr } = await consumer.node('exit.mjs')
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr:
        'hookline analytics: 50 messages lost: the process exited before close() had resolved. Await close() before the process exits.\n',
    })
  })

  it('reports no lost messages if a listener ends the process with the last result', async () => {
    const { endpoint } = await collector()
    await consumer.write('sent.mjs', threeLines(endpoint, 'size: 50, onSent: () => process.exit(3)'))
    expect(await consumer.node('sent.mjs')).toMatchObject({ code: 3, stderr: '' })
  })

  it.each([
    ['the first message of the process', ''],
    ['a message after all others were sent', 'await analytics.flush()'],
  ])('sends %s if a listener for beforeExit queues it', async (_, before) => {
    const { endpoint, messages } = await collector()
    const client = `import { Analytics } from '@hookline/client'
const analytics = new Analytics('key', { endpoint: '${endpoint}' })
`
    const earlier = before === '' ? '' : `analytics.track({ userId: 'u', event: 'Early' })\n${before}\n`
    const late = "process.once('beforeExit', () => analytics.track({ userId: 'u', event: 'Late' }))\n"
    await consumer.write('before-exit.mjs', client + earlier + late)
    expect(await consumer.node('before-exit.mjs')).toMatchObject({ code: 0, stderr: '' })
    expect(messages().at(-1)).toMatchObject({ event: 'Late' })
  })

  it('stays alive during retry delays while close is awaited', async () => {
    const { endpoint } = await collector(answering(answer(503), ok))
    await consumer.write(
      'awaited.mjs',
      `${threeLines(endpoint)}await analytics.close(); console.log(analytics.counts.sent)`,
    )
    expect(await consumer.node('awaited.mjs')).toMatchObject({ code: 0, stdout: '50\n' })
  })

  it('exits immediately without a connection when it only creates a client', async () => {
    const { endpoint, receiver } = await collector()
    await consumer.write(
      'idle.mjs',
      `import { Analytics } from '@hookline/client'\nnew Analytics('key', { endpoint: '${endpoint}' })`,
    )
    expect(await consumer.node('idle.mjs')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(receiver.connections()).toBe(0)
  })

  it('logs its actions with DEBUG=analytics', async () => {
    const { endpoint } = await collector(answering(answer(503), ok))
    await consumer.write('debug.mjs', threeLines(endpoint))
    const { stderr } = await consumer.node('debug.mjs', { DEBUG: 'analytics' })
    expect(stderr).toMatch(/^analytics: queued track [0-9a-f-]{36}, \d+ bytes$/m)
    expect(stderr).toMatch(/^analytics: retry in \d+ ms \(http_503\): The collector responded with status 503\.$/m)
    expect(stderr).toMatch(/^analytics: sent 20 messages$/m)
  })
})

describe('types compile in strict mode without Node types', () => {
  const uses = `
    const analytics = new Analytics('key', { endpoint: 'https://events.example.com', flushAt: 1, onFull: 'wait' })
    const waits: Promise<void> = analytics.track({ userId: 1, event: 'E', timestamp: new Date(), properties: { a: [1] } })
    analytics.page({ anonymousId: 'a', traits: { url: '/' } })
    const onFailure = ({ reason, messages }: Failure): string => reason + messages.length
    export const counted: number = analytics.counts.queued
    export { onFailure, waits }
    // @ts-expect-error an endpoint is required
    new Analytics('key', {})
    // @ts-expect-error an event is required
    analytics.track({ userId: 'u' })
    // @ts-expect-error unknown field
    analytics.identify({ userId: 'u', trait: {} })
    // @ts-expect-error previousId is required, as userId is
    analytics.alias({ userId: 'u' })
    // @ts-expect-error an invalid onFull
    new Analytics('key', { endpoint: '', onFull: 'drop' })
  `
  it.each([
    ['ES module', 'uses.mts', `import { Analytics, type Failure } from '@hookline/client'\n${uses}`],
    ['CommonJS', 'uses.cts', `import { Analytics, type Failure } from '@hookline/client'\n${uses}`],
  ])('%s', async (_, file, text) => {
    await consumer.write(file, text)
    const flags = [
      ...['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', ''],
      '--exactOptionalPropertyTypes',
    ]
    const { stdout, code } = await consumer.typescript(...flags, '--module', 'nodenext', file)
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 })
  })
})

describe('docs/how-to/send-from-node.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/send-from-node.md'), 'utf8')
  const all = [...page.matchAll(/^```(c?js)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
  // test/contract/kafka/client-kafka-package.test.ts runs the example that needs a broker.
  const examples = all.filter(({ text }) => !text.includes('@hookline/client-kafka'))
  const imported = Array(1_000).fill('track')
  /** The types of messages that each example of the page sends, in order. */
  const sends = [
    ['identify', 'track'],
    ['page'],
    ['track', 'alias', 'identify', 'group', 'page', 'screen', 'track'],
    [],
    ['track'],
    ['track'],
    imported,
  ]

  it('has the expected number of examples', () => {
    expect(examples.length).toBe(sends.length)
  })

  it.each(sends.map((types, index) => ({ index, types })))(
    'example $index sends the expected messages',
    async ({ index, types }) => {
      const { endpoint, messages } = await collector()
      const { language, text } = examples[index] as (typeof examples)[number]
      const file = `example-${index}.${language === 'cjs' ? 'cjs' : 'mjs'}`
      await consumer.write(file, text.replaceAll('https://events.example.com', endpoint))
      const { code, stdout, stderr } = await consumer.node(file)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(['', 'true\n']).toContain(stdout)
      expect(messages().map(({ type }) => type)).toEqual(types)
    },
  )
})
