import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../deploy/tools/local/ports.ts'
import { systemClock } from '../../../src/adapters/clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import { callsOf } from '../../../src/core/delivery/request.ts'
import type { CallResult } from '../../../src/core/ports.ts'
import { durationMs, Secret } from '../../../src/core/units.ts'
import { goldenPayloads, goldenSecret } from '../../support/golden.ts'
import { blocksOf, checkout, pageAt } from '../../support/pages.ts'

/* docs/how-to/verify-a-signature.md: every example runs, in its own language, against requests that the service's own code has sent. */

const page = pageAt('docs/how-to/verify-a-signature.md')
const examples = blocksOf(page).filter(({ language }) => language !== '')
const [nodeFunction, nodeReceiver, python, go, java, perl, shell, ...others] = examples.map(each => each.text) as [
  string,
  ...string[],
]
const fixture = (name: string): string => join(checkout, 'test/fixtures/signatures', name)

interface Language {
  readonly name: string
  /** What the page shows, as files that the program needs. */
  readonly files: Readonly<Record<string, string | undefined>>
  readonly program: string
  readonly command: readonly [string, ...string[]]
}

/** A single Java program: the launcher runs the first class, and imports come before all classes. */
async function javaProgram(): Promise<string> {
  const imports = /^import .*;\n/gm
  const verify = await readFile(fixture('Verify.java'), 'utf8')
  const parts = [java ?? '', verify]
  const hoisted = parts.flatMap(part => [...part.matchAll(imports)].map(([line]) => line))
  return [...new Set(hoisted), ...[verify, java ?? ''].map(part => part.replaceAll(imports, ''))].join('')
}

const languages: readonly Language[] = [
  {
    name: 'Node',
    files: { 'is-genuine.mjs': nodeFunction },
    program: 'verify.mjs',
    command: [process.execPath, 'verify.mjs'],
  },
  { name: 'Python', files: { 'is_genuine.py': python }, program: 'verify.py', command: ['python3', 'verify.py'] },
  {
    name: 'Go',
    files: { 'signature.go': `package main\n\n${go}` },
    program: 'verify.go',
    command: ['go', 'run', 'verify.go', 'signature.go'],
  },
  { name: 'Java', files: {}, program: 'Verify.java', command: ['java', 'Verify.java'] },
  { name: 'Perl', files: { 'is_genuine.pl': `${perl}1;\n` }, program: 'verify.pl', command: ['perl', 'verify.pl'] },
  { name: 'Shell', files: { 'is-genuine.sh': shell }, program: 'verify.sh', command: ['sh', 'verify.sh'] },
]

interface Sent {
  readonly body: Buffer
  readonly signature: string
}

let folder: string
let sent: readonly Sent[]
const other = 'another-secret'
const rotated = new Secret('new s3cret')

/** Sends a body as the dispatcher does, signed with the first secret. */
async function post(url: string, body: string, secrets: readonly Secret[], messageId = 'm-1'): Promise<CallResult> {
  const payload = {
    userAgent: 'Hookline',
    messageIdHeader: true,
    anonymousId: 'fallback',
    standardWebhooks: false,
  } as const
  const webhooks = [{ label: '0', url, urlHash: '00000000', headers: {}, traceHeaders: false }]
  const destination = { id: 'crm', enabled: true, paused: false, sources: ['web'], secrets, webhooks }
  const at = systemClock.now()
  const [call] = callsOf({ destination, webhooks, body: Buffer.from(body), messageId, at, payload })
  const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
  const transport = createGotTransport({ network: () => network, timeout: durationMs(5_000), clock: systemClock })
  try {
    return await new Promise(resolve => transport.post(call!, resolve))
  } finally {
    await transport.close()
  }
}

/** What comes in on the wire for each golden message, and for one after a rotation. */
async function record(): Promise<readonly Sent[]> {
  const requests: Sent[] = []
  const server = createServer(async (request, response) => {
    requests.push({ body: await buffer(request), signature: String(request.headers['x-signature']) })
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const bodies = goldenPayloads.filter(({ name }) => name.startsWith('default/')).map(({ body }) => body)
  for (const body of bodies) await post(url, body, [goldenSecret])
  await post(url, bodies[0]!, [rotated, goldenSecret])
  server.close()
  return requests
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookline-signatures-'))
  sent = await record()
  for (const { files, program } of languages) {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content ?? '')
    await copyFile(fixture(program), join(folder, program))
  }
  await writeFile(join(folder, 'Verify.java'), await javaProgram())
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a program with these lines on its stdin; a language that is not installed fails by its name. */
async function run([command, ...words]: readonly [string, ...string[]], input: string): Promise<string[]> {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GO111MODULE: 'on' }
  const child = spawn(command, words, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const failed = once(child, 'error').then(() => {
    throw new Error(`${command} is not installed: an example of ${page.path} cannot be run`)
  })
  child.stdin.on('error', () => undefined).end(input)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const [out, err, [code]] = await Promise.race([ended, failed])
  if (code !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${code}\n${err}`)
  return out.trimEnd().split('\n')
}

interface Case {
  readonly what: string
  readonly body: Buffer
  readonly signature: string
  readonly secrets: readonly string[]
  readonly genuine: boolean
}

function cases(): readonly Case[] {
  const right = goldenSecret.reveal()
  const first = sent[0]!
  const afterRotation = sent.at(-1)!
  const { body, signature } = first
  const of = (what: string, change: Partial<Case>): Case => ({
    ...{ what, body, signature, secrets: [right], genuine: false },
    ...change,
  })
  const flipped = (signature.startsWith('0') ? '1' : '0') + signature.slice(1)
  return [
    ...sent.slice(0, -1).map((request, index) => of(`request ${index}`, { ...request, genuine: true })),
    of('the older of two secrets', { secrets: [other, right], genuine: true }),
    of('the newer of two secrets', { secrets: [right, other], genuine: true }),
    of('signed with the new one', { ...afterRotation, secrets: [right, rotated.reveal()], genuine: true }),
    of('signed with a secret that is not known yet', { ...afterRotation }),
    of('another secret', { secrets: [other] }),
    of('a body with one byte more', { body: Buffer.concat([body, Buffer.from('\n')]) }),
    of('a body with another byte', { body: Buffer.from(body.toString().replace('{', '[')) }),
    of('no header', { signature: '-' }),
    of('the first digit is another', { signature: flipped }),
    of('the beginning of the signature', { signature: signature.slice(0, 38) }),
    of('the signature and more', { signature: `${signature}00` }),
    of('the signature and no hex', { signature: `${signature}zz` }),
    of('no hex', { signature: 'z'.repeat(40) }),
    of('not even ASCII', { signature: 'ü'.repeat(20) }),
    of('the signature of another request', { signature: sent[1]!.signature }),
  ]
}

it('the page has the examples that are run here, and no others', () => {
  expect(others).toEqual([])
  const titles = [...page.text.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title.replace(/, with OpenSSL$/, ''))
  expect(titles).toEqual(expect.arrayContaining(languages.map(({ name }) => name)))
})

describe.each(languages)('$name', ({ command }) => {
  it('tells genuine requests from all others', async () => {
    const all = cases()
    const lines = await Promise.all(
      all.map(async ({ body, signature, secrets }, index) => {
        const file = `body-${index}`
        await writeFile(join(folder, file), body)
        return [file, signature, ...secrets].join('\t')
      }),
    )
    const answers = await run(command, `${lines.join('\n')}\n`)
    expect(all.map(({ what }, index) => `${what}: ${answers[index]}`)).toEqual(
      all.map(({ what, genuine }) => `${what}: ${genuine}`),
    )
  })
})

describe('the whole receiver', () => {
  let receiver: ChildProcess
  afterAll(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })

  it('takes what is genuine once, answers duplicates with success, and refuses the rest', async () => {
    await writeFile(join(folder, 'receiver.mjs'), nodeReceiver ?? '')
    const port = await freePorts(1)
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: goldenSecret.reveal() }
    receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: receiver.stdout! })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('listening')

    const url = `http://127.0.0.1:${port}/`
    const body = '{"version":"2.0","type":"track","userId":"u-17"}'
    const statusOf = async (secret: Secret, id: string): Promise<unknown> => {
      const result = await post(url, body, [secret], id)
      return result.kind === 'answered' ? result.status : result
    }
    expect(await statusOf(new Secret(other), 'm-0')).toBe(401)
    expect(await statusOf(goldenSecret, 'm-1')).toBe(204)
    expect(await statusOf(goldenSecret, 'm-1')).toBe(204)
    expect(await statusOf(goldenSecret, 'm-2')).toBe(204)
    const printed = [(await lines.next()).value, (await lines.next()).value]
    expect(printed).toEqual(['m-1 track u-17', 'm-2 track u-17'])
  })
})
