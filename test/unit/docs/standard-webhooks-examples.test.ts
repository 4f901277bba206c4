import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import { goldenPayloads } from '../../support/dispatcher/golden-payloads.ts'
import { blocksOf, pageAt } from '../../support/docs/pages.ts'
import { type Case as AnyCase, installExamples } from '../../support/docs/signature-examples.ts'
import { type StandardWebhooksRequest, standardWebhooksRequest } from '../../support/docs/standard-webhooks-request.ts'

/*
 * Runs every receiver of docs/how-to/verify-standard-webhooks.md in its language, with requests
 * that Hookline's code has made.
 */

const page = pageAt('docs/how-to/verify-standard-webhooks.md')
/** Matches the section with public keys. ed25519-examples.test.ts tests its examples. */
const publicKeySection = /^## With a public key[\s\S]*?(?=^## )/m
const examples = blocksOf({ ...page, text: page.text.replace(publicKeySection, '') }).filter(
  ({ language }) => language !== '' && language !== 'yaml',
)
const [Node, nodeReceiver, Python, Go, Java, Perl, ...others] = examples.map(each => each.text) as [
  ...[string, string, string, string, string, string],
  ...string[],
]
const { folder, languages, check } = await installExamples(page.path, 'standard', { Node, Python, Go, Java, Perl })

const now = 1_773_000_000
const plain = 'golden-secret-ü'
const encoded = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

function requestOf(text: string, secrets: readonly string[], id = 'm-1', at = now): StandardWebhooksRequest {
  const given = { secrets: secrets.map(secret => new Secret(secret)), policy: { standardWebhooks: true } }
  return standardWebhooksRequest(text, given, { id, at })
}

interface Case extends StandardWebhooksRequest, AnyCase {
  readonly now: number
  readonly secrets: readonly string[]
}

function cases(): readonly Case[] {
  const bodies = goldenPayloads.filter(({ name }) => name.startsWith('default/')).map(({ body }) => body)
  const first = requestOf(bodies[0] ?? '', [plain])
  const of = (what: string, change: Partial<Case>): Case => ({
    ...{ ...first, what, now, secrets: [plain], genuine: false },
    ...change,
  })
  return [
    ...bodies.map((body, index) => of(`request ${index}`, { ...requestOf(body, [plain]), genuine: true })),
    of('a whsec_ secret', { ...requestOf(bodies[0] ?? '', [encoded]), secrets: [encoded], genuine: true }),
    of('signed by two, the receiver has the second', { ...requestOf('{}', [encoded, plain]), genuine: true }),
    of('signed by one, the receiver has two', { secrets: [encoded, plain], genuine: true }),
    of('another id', { id: 'm-1-again' }),
    of('no id', { id: '' }),
    of('another time', { timestamp: String(now + 1) }),
    of('no time', { timestamp: '' }),
    of('a time that is no number', { timestamp: `${now} ` }),
    of('five minutes later, as it was', { now: now + 300, genuine: true }),
    of('sent again after five minutes', { now: now + 301 }),
    of('from the future', { now: now - 301 }),
    of('sent again with a new time', { now: now + 400, timestamp: String(now + 400) }),
    of('another body', { body: Buffer.concat([first.body, Buffer.from(' ')]) }),
    of('another secret', { secrets: ['another-secret'] }),
    of('no signature', { signature: '' }),
    of('a part of the signature', { signature: first.signature.slice(0, 20) }),
    of('the signature of another version', { signature: first.signature.replace('v1,', 'v2,') }),
    of('the signature of another message', { signature: requestOf('{}', [plain]).signature }),
  ]
}

it('the page has the examples that are run here, and no others', () => expect(others).toEqual([]))

describe.each(languages)('$name', ({ command }) => {
  it('accepts genuine requests, and refuses changed ids, other times and later repetitions', () =>
    check(command, cases(), ({ id, timestamp, signature, now: at, secrets }) => [
      id,
      timestamp,
      signature,
      at,
      ...secrets,
    ]))
})

it('the whole receiver acts once on a repeated request, and refuses it with a changed id', async () => {
  await writeFile(join(folder, 'receiver.mjs'), nodeReceiver)
  const port = await freePorts(1)
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: plain }
  const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('listening')
    const seconds = Math.floor(Date.now() / 1_000)
    const made = requestOf('{"version":"2.0","type":"track","userId":"u-17"}', [plain], 'm-1', seconds)
    const send = async ({ id, timestamp, signature, body }: StandardWebhooksRequest): Promise<number> => {
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: new Uint8Array(body) })).status
    }
    expect(await send(made)).toBe(204)
    expect(await send(made)).toBe(204)
    expect(await send({ ...made, id: 'm-1-again' })).toBe(401)
    expect(await send(requestOf('{"type":"track","userId":"u-18"}', [plain], 'm-1', seconds - 301))).toBe(401)
    expect(await send(requestOf('{"type":"track","userId":"u-18"}', [plain], 'm-2', seconds))).toBe(204)
    expect([(await lines.next()).value, (await lines.next()).value]).toEqual(['m-1 track u-17', 'm-2 track u-18'])
  } finally {
    receiver.kill()
    await once(receiver, 'exit')
  }
})
