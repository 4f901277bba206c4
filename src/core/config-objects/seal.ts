import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { EncryptionKey } from '../encryption-key.ts'

/*
 * A seal is a secret, encrypted with AES-256-GCM for one location (a path in one object). It cannot
 * be decrypted for another location. With random nonces, one key permits 2^32 seals (NIST SP
 * 800-38D, 8.3).
 */

/** Where a secret is: the kind and id of the object, and the formatted path in its document. */
export interface SecretLocation {
  readonly kind: string
  readonly id: string
  readonly path: string
}

/** A sealed secret in a document. */
export interface Seal {
  /** `<id of the key>.<base64url of nonce, ciphertext and tag>` */
  readonly sealed: string
}

export type Opened =
  | { readonly kind: 'opened'; readonly text: string; readonly keyId: string }
  /** No configured key has the id in the seal. */
  | { readonly kind: 'key_missing'; readonly keyId: string }
  /** The value is not a seal, was changed or truncated, or is the seal of another location. */
  | { readonly kind: 'damaged' }

const algorithm = 'aes-256-gcm'
export const nonceBytes = 12
const tagBytes = 16
const pattern = /^([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

/** Returns 12 random bytes, different at each call. */
export type NewNonce = () => Buffer

/**
 * Encrypts a secret. `open` decrypts the seal only for the same `location`, so a seal that was
 * copied to another place is rejected.
 */
export function seal(text: string, key: EncryptionKey, location: SecretLocation, newNonce: NewNonce): Seal {
  const nonce = newNonce()
  const cipher = createCipheriv(algorithm, key.object, nonce, { authTagLength: tagBytes })
  cipher.setAAD(boundTo(location))
  const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { sealed: `${key.id}.${bytes.toString('base64url')}` }
}

/** Decrypts a seal with the key whose id is in the seal. */
export function open(value: unknown, keys: readonly EncryptionKey[], location: SecretLocation): Opened {
  const sealed = sealedText(value)
  const [, keyId = '', encoded = ''] = (sealed === undefined ? undefined : pattern.exec(sealed)) ?? []
  const bytes = Buffer.from(encoded, 'base64url')
  // base64url decoding ignores surplus bits at the end, so several texts can decode to the same
  // bytes. Only the text that `seal` writes is accepted.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== encoded) return { kind: 'damaged' }
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) return { kind: 'key_missing', keyId }
  const decipher = createDecipheriv(algorithm, key.object, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(boundTo(location))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
    return { kind: 'opened', text: text.toString('utf8'), keyId }
  } catch {
    return { kind: 'damaged' }
  }
}

function sealedText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'sealed') return undefined
  const { sealed } = value as { readonly sealed: unknown }
  return typeof sealed === 'string' ? sealed : undefined
}

/**
 * Encodes a location as the additional data that the cipher authenticates. JSON separates the parts
 * of the location unambiguously.
 */
const boundTo = ({ kind, id, path }: SecretLocation): Buffer =>
  Buffer.from(JSON.stringify(['hookline.config', kind, id, path]))
