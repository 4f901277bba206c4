import { createPrivateKey, hash, type KeyObject } from 'node:crypto'
import type { Objection } from '../invalid-value-message-and-hint.ts'

/*
 * The text of a private Ed25519 key has one of two forms: PKCS#8 in PEM, or `whsk_` and the seed in
 * Base64. Some libraries append the public key to the seed.
 */

const seedBytes = 32
const pemPattern = /^-----BEGIN PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/
const standardPattern = /^whsk_([A-Za-z0-9+/]+={0,2})$/
/** The bytes before the seed in the PKCS#8 form of an Ed25519 key (RFC 8410 7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Parses a private key. Returns `undefined` when it is not an Ed25519 private key. */
export function parseSigningKey(text: string): KeyObject | undefined {
  try {
    const bytes = bytesIn(text)
    if (bytes === undefined) return ed25519(createPrivateKey(text))
    const der = Buffer.concat([pkcs8Prefix, bytes.subarray(0, seedBytes)])
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const isOwn = bytes.length === seedBytes || publicBytesOf(key).equals(bytes.subarray(seedBytes))
    return isOwn ? key : undefined
  } catch {
    return undefined
  }
}

const ed25519 = (key: KeyObject): KeyObject | undefined => (key.asymmetricKeyType === 'ed25519' ? key : undefined)

/**
 * Returns the bytes of a private key, without parsing the key: the seed, possibly followed by the
 * public key. Returns `undefined` for any other text, and for PEM that contains the public key:
 * only Node parses this PEM.
 */
function bytesIn(text: string): Buffer | undefined {
  const [, base64] = standardPattern.exec(text.trim()) ?? []
  if (base64 !== undefined) {
    const bytes = Buffer.from(base64, 'base64')
    return bytes.length === seedBytes || bytes.length === 2 * seedBytes ? bytes : undefined
  }
  const [, pem = ''] = pemPattern.exec(text) ?? []
  const der = Buffer.from(pem, 'base64')
  const isUsual = der.length === pkcs8Prefix.length + seedBytes && der.subarray(0, -seedBytes).equals(pkcs8Prefix)
  return isUsual ? der.subarray(-seedBytes) : undefined
}

/**
 * Whether a text is a signing key. A seed of 32 bytes is always valid, so it is not parsed: parsing
 * takes 50 µs, and 10,000 destinations may have a key.
 */
const isSigningKey = (text: string): boolean =>
  bytesIn(text)?.length === seedBytes || parseSigningKey(text) !== undefined

/** Returns why a text is not usable as a signing key. */
export const refuseSigningKey = (text: string): Objection | undefined =>
  !isSigningKey(text)
    ? {
        message: 'contains no Ed25519 private key',
        hint: 'create a key without a passphrase, for example with: openssl genpkey -algorithm ed25519',
      }
    : undefined

/** The 32 bytes of the public key that belongs to a private key. */
function publicBytesOf(key: KeyObject): Buffer {
  const { x = '' } = key.export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}

/** A public key as JSON Web Key (RFC 8037) and for Standard Webhooks. */
export interface PublicSigningKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly use: 'sig'
  readonly alg: 'EdDSA'
  /** The thumbprint of the key (RFC 7638). */
  readonly kid: string
  /** `whpk_` and the public key in Base64. */
  readonly standardWebhooks: string
}

/** The public key that belongs to a private key. */
export function publicKeyOf(key: KeyObject): PublicSigningKey {
  const bytes = publicBytesOf(key)
  const x = bytes.toString('base64url')
  // RFC 7638 hashes the required members in alphabetical order, without white space.
  const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url')
  return {
    ...{ kty: 'OKP', crv: 'Ed25519', x, use: 'sig', alg: 'EdDSA', kid },
    standardWebhooks: `whpk_${bytes.toString('base64')}`,
  }
}

/**
 * Returns the JSON Web Key Set (RFC 7517) of one destination, or of all destinations. The set is
 * public, so it must not name a destination.
 */
export type PublishedKeys = (destination: string | undefined) => Promise<{ readonly keys: readonly PublicSigningKey[] }>
