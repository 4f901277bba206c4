import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { requestsOf, signerOf } from '../../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { refuseHeader, refuseHeaders } from '../../../../src/core/settings/refuse-header.ts'
import type { Destination, PayloadSettings, Webhook } from '../../../../src/core/settings/settings.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { defaultPayload, destinationOf, webhookOf } from '../../../support/builders.ts'

const body = Buffer.from('{"test":2432232314}')
const secrets = (...values: string[]) => values.map(value => new Secret(value))

function headersOf(destination: Partial<Destination>, payload: Partial<PayloadSettings> = {}, webhook = webhookOf(0)) {
  const [call] = requestsOf({
    destination: destinationOf(destination),
    webhooks: [webhook],
    body,
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: epochMs(1_614_265_330_999),
    payload: { ...defaultPayload, ...payload },
  })
  return call?.headers
}

const unsigned = {
  'User-Agent': 'Hookline/1.0',
  'Content-Type': 'application/json',
  Accept: '*/*',
  'Accept-Encoding': 'identity',
  'X-Message-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
}
// The signature is computed with: printf '%s' '{"test":2432232314}' | openssl dgst -sha1 -hmac
// plain-ü
const signature = 'ad26407a853f90538bc61a26e204086232216304'

describe('all request headers', () => {
  it('without a shared secret', () => {
    expect(headersOf({})).toEqual(unsigned)
  })

  it('with a shared secret', () => {
    expect(headersOf({ secrets: secrets('plain-ü') })).toEqual({ ...unsigned, 'X-Signature': signature })
  })

  it('during a rotation the first secret signs X-Signature', () => {
    expect(headersOf({ secrets: secrets('plain-ü', 'old') })?.['X-Signature']).toBe(signature)
  })

  const at = 1_614_265_330_999
  it.each([
    ['before', at + 1, 'plain-ü', 2],
    ['at', at, 'new', 1],
    ['after', at - 1, 'new', 1],
  ])('%s the time of a rotation, the secrets in use sign', (_, rotatesAt, signing, count) => {
    const given = { secrets: secrets('plain-ü', 'new'), secretRotatesAt: epochMs(rotatesAt) }
    const headers = headersOf(given, { standardWebhooks: true })
    expect(headers?.['X-Signature']).toBe(signerOf(new Secret(signing))(body))
    expect(headers?.['webhook-signature']?.split(' ')).toHaveLength(count)
  })

  it('with another product token', () => {
    expect(headersOf({}, { userAgent: 'Acme' })?.['User-Agent']).toBe('Acme/1.0')
  })

  it('without X-Message-Id', () => {
    const { 'X-Message-Id': _, ...others } = unsigned
    expect(headersOf({}, { messageIdHeader: false })).toEqual(others)
  })

  it('with static headers', () => {
    const webhook = webhookOf(0, { Authorization: 'Bearer t0ken', 'X-Tenant': '7' })
    expect(headersOf({}, {}, webhook)).toEqual({ ...unsigned, Authorization: 'Bearer t0ken', 'X-Tenant': '7' })
  })

  it('a static header replaces a default one, in any case', () => {
    const { Accept: _, ...others } = unsigned
    expect(headersOf({}, {}, webhookOf(0, { accept: 'text/plain' }))).toEqual({ ...others, accept: 'text/plain' })
  })

  it('uses a changed product token after a reload, although the webhook object is the same', () => {
    const webhook = webhookOf(0)
    headersOf({}, {}, webhook)
    expect(headersOf({}, { userAgent: 'Acme' }, webhook)?.['User-Agent']).toBe('Acme/1.0')
  })
})

it('every webhook gets the same body and signature with its own URL and headers', () => {
  const webhooks: readonly Webhook[] = [webhookOf(0, { 'X-Tenant': '0' }), webhookOf(1)]
  const calls = requestsOf({
    destination: destinationOf({ secrets: secrets('plain-ü'), webhooks }),
    webhooks,
    body,
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: epochMs(0),
    payload: defaultPayload,
  })
  expect(calls).toEqual([
    { url: webhooks[0]?.url, body, headers: { ...unsigned, 'X-Signature': signature, 'X-Tenant': '0' } },
    { url: webhooks[1]?.url, body, headers: { ...unsigned, 'X-Signature': signature } },
  ])
})

it('X-Signature uses a secret as text, even in the form of Standard Webhooks', () => {
  const [secret] = secrets('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  expect(signerOf(secret as Secret)(body)).toBe('11ab4430e3c2186af14f758717b5d01ff86c71d6')
})

describe('Standard Webhooks', () => {
  const on = { standardWebhooks: true }
  // Computed with OpenSSL. The hexkey is the decoded secret. Any other secret needs `-hmac SECRET`
  // instead.
  // printf '%s' 'ID.TIMESTAMP.BODY' |
  //   openssl dgst -sha256 -mac HMAC -macopt hexkey:… -binary | base64
  const byBase64 = 'v1,Vif40peJBP7Iyl0XGmu61n4MwdrcHov5CFREBpE0svs='
  const byText = 'v1,ztMHryWjiFvLXFZr31ByvIOu2K64a/Vvw/LX5ZiBGe4='
  const byMalformed = 'v1,FfMaoJjhVpXub8KYmG5ek75w8aqChNTYYg0qs/TlmrM='

  it.each([
    ['a whsec_ secret signs by its decoded base64', ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], byBase64],
    ['any other secret signs by its UTF-8 bytes', ['plain-ü'], byText],
    ['a malformed whsec_ secret signs by its UTF-8 bytes', ['whsec_not base64!'], byMalformed],
    ['all secrets sign in a rotation', ['plain-ü', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], `${byText} ${byBase64}`],
  ])('%s', (_, values, expected) => {
    expect(headersOf({ secrets: secrets(...values) }, on)).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': expected,
    })
  })

  it("agrees with the standard's own example", () => {
    const [call] = requestsOf({
      destination: destinationOf({ secrets: secrets('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') }),
      webhooks: [webhookOf(0)],
      body: Buffer.from('{"test": 2432232314}'),
      messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: epochMs(1_614_265_330_000),
      payload: { ...defaultPayload, ...on },
    })
    expect(call?.headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it.each([
    ['switched on for one destination', true, false, true],
    ['switched off for one destination', false, true, false],
    ['the default of all destinations', undefined, true, true],
  ])('%s', (_, own, forAll, expected) => {
    const given = { secrets: secrets('plain-ü'), policy: { standardWebhooks: own } }
    expect(headersOf(given, { standardWebhooks: forAll })?.['webhook-signature'] !== undefined).toBe(expected)
  })

  it('adds no headers without a secret', () => {
    expect(headersOf({}, on)).toEqual(unsigned)
  })
})

describe('refuseHeader', () => {
  it.each([
    ['Authorization', 'Bearer abc'],
    ['X-Tenant', ''],
    ['accept', 'text/plain'],
    ["!#$%&'*+-.^_`|~09azAZ", 'x'],
    ['X-Latin-1', 'caf\u00e9 \t \u0080\u00ff~'],
    ['X-Long', 'x'.repeat(4_096)],
    ['x-webhook-id', 'x'],
  ])('accepts %s', (name, value) => {
    expect(refuseHeader(name, value)).toBeUndefined()
  })

  it.each([
    ...['Host', 'content-length', 'Content-Type', 'content-encoding', 'transfer-encoding', 'Connection', 'upgrade'],
    ...['TE', 'trailer', 'expect', 'keep-alive', 'User-Agent', 'X-SIGNATURE', 'x-message-id'],
  ])('refuses %s, which Hookline or HTTP sets', name => {
    const message = `header "${name}" is reserved for Hookline and its HTTP client`
    expect(refuseHeader(name, 'x')).toEqual({ message, hint: 'leave this header out' })
  })

  it.each([
    ['Proxy-Authorization', 'proxy-'],
    ['proxy-', 'proxy-'],
    ['webhook-id', 'webhook-'],
    ['Webhook-Anything', 'webhook-'],
  ])('refuses %s, because its prefix is reserved', (name, prefix) => {
    const message = `header names that begin with "${prefix}" are reserved for Hookline and its HTTP client`
    expect(refuseHeader(name, 'x')).toEqual({ message, hint: 'leave this header out' })
  })

  it.each(['', 'X Tenant', 'X-Tenant:', 'caf\u00e9', 'X\r\nY', '"X"'])('refuses %j, which is not a token', name => {
    expect(refuseHeader(name, 'x')?.message).toContain('is not valid')
  })

  it('rejects __proto__, which is not stored as a key of an object', () => {
    expect(refuseHeader('__proto__', 'x')).toEqual({
      message: 'a header of this name cannot be sent',
      hint: 'use another name',
    })
  })

  it.each(['s3cret\r\nX: y', 's3cret\n', 's3cret\0', 's3cret\x7f', 's3cret\u0100', 's3cret\u{1f600}'])(
    'refuses the value %j without showing it',
    value => {
      const refusal = refuseHeader('X-Key', value)
      expect(refusal?.message).toContain('the value of this header contains a line break or another character')
      expect(JSON.stringify(refusal)).not.toContain('s3cret')
    },
  )

  it('rejects a value over 4,096 bytes', () => {
    expect(refuseHeader('X-Long', 'x'.repeat(4_097))?.message).toBe(
      'the value of this header is 4097 bytes long, the maximum is 4096',
    )
  })
})

describe('refuseHeaders', () => {
  it('accepts up to 8 KiB', () => {
    expect(refuseHeaders({ a: 'x'.repeat(4_095), b: 'x'.repeat(4_095) })).toBeUndefined()
    expect(refuseHeaders({})).toBeUndefined()
  })

  it('rejects more than 8 KiB', () => {
    expect(refuseHeaders({ a: 'x'.repeat(4_095), b: 'x'.repeat(4_096) })?.message).toBe(
      'the headers have 8193 bytes together, the maximum is 8192',
    )
  })
})

describe('Ed25519 signatures', () => {
  const [first, second] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
  const keys = [first, second].map(
    ({ privateKey }) => new Secret(String(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
  )
  const on = { standardWebhooks: true, signing: 'ed25519' } as const
  const signaturesOf = (destination: Partial<Destination>): readonly string[] =>
    headersOf(destination)?.['webhook-signature']?.split(' ') ?? []
  const isBy = ({ publicKey }: typeof first, given: string | undefined, signed = body.toString()): boolean => {
    const [scheme, base64 = ''] = given?.split(',') ?? []
    const content = Buffer.from(`msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.${signed}`)
    return scheme === 'v1a' && verify(null, content, publicKey, Buffer.from(base64, 'base64'))
  }

  it('cover id, time and body, with each private key', () => {
    const signatures = signaturesOf({ signingKeys: keys, policy: on })
    expect(signatures).toHaveLength(2)
    expect(isBy(first, signatures[0])).toBe(true)
    expect(isBy(second, signatures[1])).toBe(true)
    expect(isBy(first, signatures[0], '{}')).toBe(false)
  })

  it('need no shared secret, and there is no X-Signature then', () => {
    const headers = headersOf({ signingKeys: keys.slice(0, 1), policy: on })
    expect(headers).not.toHaveProperty('X-Signature')
    expect(headers).toMatchObject({ 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330' })
  })

  it('are followed by those of the shared secrets', () => {
    const signatures = signaturesOf({ signingKeys: keys.slice(0, 1), secrets: secrets('a', 'b'), policy: on })
    expect(signatures.map(each => each.split(',')[0])).toEqual(['v1a', 'v1', 'v1'])
  })

  it.each<[string, NonNullable<Destination['policy']>]>([
    ['without signing: ed25519', { standardWebhooks: true }],
    ['with signing: hmac', { standardWebhooks: true, signing: 'hmac' }],
    ['without the Standard Webhooks headers', { standardWebhooks: false, signing: 'ed25519' }],
  ])('are absent %s', (_, policy) => {
    expect(signaturesOf({ signingKeys: keys, policy })).toEqual([])
  })
})
