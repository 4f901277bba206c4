import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import type { Objection } from './invalid-value-message-and-hint.ts'
import type { Secret } from './secret.ts'

export interface EncryptionKey {
  /** 8 hex digits of a hash of the key. Each seal (encrypted secret) contains the id of its key. */
  readonly id: string
  /**
   * The key of 32 bytes. It is not a Buffer, because Node takes three times as long to create a
   * cipher with a Buffer.
   */
  readonly object: KeyObject
}

const keyBytes = 32
const hint = 'write 32 random bytes in base64 or hex into this file, for example with: openssl rand -base64 32'

/** Reads the content of a key file: 32 bytes in base64, base64url or hex. */
export function parseEncryptionKey(
  content: string,
): { readonly kind: 'key'; readonly key: EncryptionKey } | (Objection & { readonly kind: 'refused' }) {
  const text = content.trim()
  if (text === '') return { kind: 'refused', message: 'is empty', hint }
  const bytes = bytesOf(text)
  if (bytes === undefined) return { kind: 'refused', message: 'is neither base64 nor hex', hint }
  if (bytes.length !== keyBytes)
    return { kind: 'refused', message: `contains a key of ${bytes.length} bytes, not ${keyBytes}`, hint }
  if (bytes.every(byte => byte === bytes[0]))
    return { kind: 'refused', message: 'contains the same byte 32 times', hint }
  return { kind: 'key', key: { id: idOf(bytes), object: createSecretKey(bytes) } }
}

/**
 * Parses the keys of `operator.encryptionKeyFile`, in order. The first one encrypts; all of them
 * decrypt.
 */
export const encryptionKeysOf = (secrets: readonly Secret[]): readonly EncryptionKey[] =>
  secrets.flatMap(secret => {
    const parsed = parseEncryptionKey(secret.reveal())
    return parsed.kind === 'key' ? [parsed.key] : []
  })

function bytesOf(text: string): Buffer | undefined {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** The fixed text makes the id differ from any other hash of the key. */
const idOf = (bytes: Buffer): string =>
  createHash('sha256').update('hookline encryption key id\0').update(bytes).digest('hex').slice(0, 8)
