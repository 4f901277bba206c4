import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { Secret } from '../../../src/core/secret.ts'
import { parseSigningKey, publicKeyOf } from '../../../src/core/signing/ed25519-signing-key.ts'
import { goldenPayloads } from '../../support/dispatcher/golden-payloads.ts'
import { blocksOf, pageAt } from '../../support/docs/pages.ts'
import { type Case as AnyCase, installExamples } from '../../support/docs/signature-examples.ts'
import { type StandardWebhooksRequest, standardWebhooksRequest } from '../../support/docs/standard-webhooks-request.ts'

/*
 * Runs the example receivers of this page in their languages, with requests that Hookline's code
 * has made.
 */

const page = pageAt('docs/how-to/verify-standard-webhooks.md')
const [section = ''] = /^## With a public key[\s\S]*?(?=^## )/m.exec(page.text) ?? []
const examples = blocksOf({ ...page, text: section }).filter(({ language }) => language !== '' && language !== 'yaml')
const [Node, Go, Java, ...others] = examples.map(each => each.text) as [string, string, string, ...string[]]
const { languages, check } = await installExamples(page.path, 'standard', { Node, Go, Java })

const now = 1_773_000_000
const privateKey = (): string =>
  String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
const publicOf = (key: string): string => publicKeyOf(parseSigningKey(key)!).standardWebhooks
const [own, next, strange] = [privateKey(), privateKey(), privateKey()]

function requestOf(text: string, keys: readonly string[], secrets: readonly string[] = []): StandardWebhooksRequest {
  const given = {
    signingKeys: keys.map(key => new Secret(key)),
    secrets: secrets.map(secret => new Secret(secret)),
    policy: { standardWebhooks: true, signing: 'ed25519' as const },
  }
  return standardWebhooksRequest(text, given, { id: 'm-1', at: now })
}

interface Case extends StandardWebhooksRequest, AnyCase {
  readonly now: number
  readonly keys: readonly string[]
}

function cases(): readonly Case[] {
  const bodies = goldenPayloads.filter(({ name }) => name.startsWith('default/')).map(({ body }) => body)
  const first = requestOf(bodies[0] ?? '', [own])
  const of = (what: string, change: Partial<Case>): Case => ({
    ...{ ...first, what, now, keys: [publicOf(own)], genuine: false },
    ...change,
  })
  return [
    ...bodies.map((body, index) => of(`request ${index}`, { ...requestOf(body, [own]), genuine: true })),
    of('signed by two, the receiver has the first', { ...requestOf('{}', [own, next]), genuine: true }),
    of('signed by two, the receiver has the second', { ...requestOf('{}', [next, own]), genuine: true }),
    of('signed by one, the receiver has two', { keys: [publicOf(next), publicOf(own)], genuine: true }),
    of('signed with a shared secret too', { ...requestOf('{}', [own], ['secret']), genuine: true }),
    of('signed only with a shared secret', { ...requestOf('{}', [], ['secret']) }),
    of('signed by another key', { ...requestOf(bodies[0] ?? '', [strange]) }),
    of('another id', { id: 'm-1-again' }),
    of('no id', { id: '' }),
    of('another time', { timestamp: String(now + 1) }),
    of('no time', { timestamp: '' }),
    of('five minutes later, as it was', { now: now + 300, genuine: true }),
    of('sent again after five minutes', { now: now + 301 }),
    of('from the future', { now: now - 301 }),
    of('another body', { body: Buffer.concat([first.body, Buffer.from(' ')]) }),
    of('no signature', { signature: '' }),
    of('a part of the signature', { signature: first.signature.slice(0, 40) }),
    of('not Base64', { signature: 'v1a,?' }),
    of('the signature of another version', { signature: first.signature.replace('v1a,', 'v1,') }),
    of('the signature of another message', { signature: requestOf('{}', [own]).signature }),
  ]
}

it('the section has the examples that are run here, and no others', () => expect(others).toEqual([]))

describe.each(languages)('$name', ({ command }) => {
  it('accepts genuine requests, and refuses changed ones and other keys', () =>
    check(command, cases(), ({ id, timestamp, signature, now: at, keys }) => [id, timestamp, signature, at, ...keys]))
})
