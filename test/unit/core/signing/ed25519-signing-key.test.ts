import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { parseSigningKey, publicKeyOf, refuseSigningKey } from '../../../../src/core/signing/ed25519-signing-key.ts'

// Test vectors of RFC 8032, section 7.1, TEST 3.
const seed = Buffer.from('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7', 'hex')
const publicKey = Buffer.from('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025', 'hex')
const signature =
  '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a'
const whsk = (...parts: readonly Buffer[]): string => `whsk_${Buffer.concat(parts).toString('base64')}`
/** The seed in PKCS#8, as `openssl pkey` writes it. */
const pem =
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4LRFj3\n-----END PRIVATE KEY-----\n'

describe('a private key', () => {
  it.each([
    ['whsk_ with the seed', whsk(seed)],
    ['whsk_ with the seed and the public key', whsk(seed, publicKey)],
    ['whsk_ with a line end', `${whsk(seed)}\n`],
    ['PKCS#8 in PEM', pem],
  ])('as %s signs as RFC 8032 says', (_, text) => {
    const key = parseSigningKey(text)!
    expect(sign(null, Buffer.from('af82', 'hex'), key).toString('hex')).toBe(signature)
    expect(refuseSigningKey(text)).toBeUndefined()
  })

  it.each([
    ['empty', ''],
    ['a shared secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['a public key', `whpk_${publicKey.toString('base64')}`],
    ['too short', whsk(seed.subarray(1))],
    ['too long', whsk(seed, seed.subarray(0, 1))],
    ['with the public key of another one', whsk(seed, seed)],
    ['not Base64', 'whsk_?'],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['a PEM public key', generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })],
    [
      'encrypted',
      generateKeyPairSync('ed25519').privateKey.export({
        ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
      }),
    ],
  ])('that is %s is refused without repeating it', (_, text) => {
    expect(parseSigningKey(String(text))).toBeUndefined()
    expect(refuseSigningKey(String(text))).toEqual({
      message: 'contains no Ed25519 private key',
      hint: expect.stringContaining('openssl genpkey -algorithm ed25519'),
    })
  })
})

it('the public key is a JSON Web Key with its thumbprint, and has the form of Standard Webhooks', () => {
  // The key of RFC 8037, appendix A. Its thumbprint is below.
  const rfc8037 = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url')
  expect(publicKeyOf(parseSigningKey(whsk(rfc8037))!)).toEqual({
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    use: 'sig',
    alg: 'EdDSA',
    kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    standardWebhooks: 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  })
})
