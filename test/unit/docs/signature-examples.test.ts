import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import { requestsOf } from '../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../src/core/secret.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { CallResult } from '../../../src/core/webhook-ports.ts'
import { goldenPayloads, goldenSecret } from '../../support/dispatcher/golden-payloads.ts'
import { blocksOf, pageAt } from '../../support/docs/pages.ts'
import { type Case as AnyCase, installExamples } from '../../support/docs/signature-examples.ts'

/*
 * Runs every example of docs/how-to/verify-a-signature.md in its language, with requests that
 * Hookline has sent.
 */

const page = pageAt('docs/how-to/verify-a-signature.md')
const examples = blocksOf(page).filter(({ language }) => language !== '')
const [Node, nodeReceiver, Python, Go, Java, Perl, Shell, ...others] = examples.map(each => each.text) as [
  ...[string, string, string, string, string, string, string],
  ...string[],
]
const { folder, languages, check } = await installExamples(page.path, 'verify', { Node, Python, Go, Java, Perl, Shell })

interface Sent {
  readonly body: Buffer
  readonly signature: string
}

let sent: readonly Sent[]
const other = 'another-secret'
const rotated = new Secret('new s3cret')

/** The first secret signs the body. */
async function post(url: string, body: string, secrets: readonly Secret[], messageId = 'm-1'): Promise<CallResult> {
  const payload = {
    userAgent: 'Hookline',
    messageIdHeader: true,
    anonymousId: 'fallback',
    standardWebhooks: false,
  } as const
  const webhooks = [{ label: '0', url, urlHash: '00000000', headers: {}, traceHeaders: false }]
  const destination = { id: 'crm', enabled: true, paused: false, sources: ['web'], secrets, webhooks }
  const at = processClock.now()
  const [call] = requestsOf({ destination, webhooks, body: Buffer.from(body), messageId, at, payload })
  const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
  const transport = createGotTransport({ network: () => network, timeout: durationMs(60_000), clock: processClock })
  try {
    return await new Promise(resolve => transport.post(call!, resolve))
  } finally {
    await transport.close()
  }
}

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
  sent = await record()
})

interface Case extends AnyCase {
  readonly signature: string
  readonly secrets: readonly string[]
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
  it('accepts exactly the genuine requests', () =>
    check(command, cases(), ({ signature, secrets }) => [signature, ...secrets]))
})

describe('the whole receiver', () => {
  let receiver: ChildProcess
  afterAll(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })

  it('acts once on a genuine request, answers duplicates with success, and refuses the rest', async () => {
    await writeFile(join(folder, 'receiver.mjs'), nodeReceiver)
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
