import type { ObjectDocument } from '../config-objects/config-objects.ts'
import { parseTimestamp, toIsoTimestamp } from '../message/timestamp.ts'
import { type DurationMs, type EpochMs, epochMs } from '../time.ts'
import { maxWriteKeys } from './max-write-keys.ts'

export type SecretRotation =
  /** `until`: when the new secret replaces the old one; `undefined`: immediately. */
  | { readonly kind: 'rotated'; readonly document: ObjectDocument; readonly until: EpochMs | undefined }
  /**
   * The destination already has two secrets. `until`: when the second replaces the first;
   * `undefined`: both stay in use.
   */
  | { readonly kind: 'in_progress'; readonly until: EpochMs | undefined }

/**
 * Gives a destination a new secret. During `overlap`, the old secret signs X-Signature, and both
 * secrets sign the Standard Webhooks headers, so that the receiver can change its secret.
 */
export function rotateSecret(
  document: ObjectDocument,
  { secret, now, overlap }: { readonly secret: string; readonly now: EpochMs; readonly overlap: DurationMs },
): SecretRotation {
  const { sharedSecret, secretRotatesAt, ...rest } = document
  const secrets: readonly unknown[] = sharedSecret === undefined ? [] : [sharedSecret].flat()
  const rotatesAt = parseTimestamp(secretRotatesAt)
  const inUse = rotatesAt !== undefined && rotatesAt <= now ? secrets.slice(1) : secrets
  const [current, ...others] = inUse
  if (overlap === 0 || current === undefined)
    return { kind: 'rotated', document: { ...rest, sharedSecret: secret }, until: undefined }
  if (others.length > 0) return { kind: 'in_progress', until: rotatesAt }
  const until = epochMs(now + overlap)
  return {
    kind: 'rotated',
    document: { ...rest, sharedSecret: [current, secret], secretRotatesAt: toIsoTimestamp(until) },
    until,
  }
}

export type KeyRotation =
  | { readonly kind: 'rotated'; readonly document: ObjectDocument; readonly keys: number }
  /** The source already has three keys. */
  | { readonly kind: 'too_many' }

/**
 * Adds a new write key at the beginning of the list of keys. `keep`: how many of the newest earlier
 * keys stay valid; `undefined`: all.
 */
export function rotateKey(
  document: ObjectDocument,
  { key, keep }: { readonly key: string; readonly keep: number | undefined },
): KeyRotation {
  const { writeKey } = document
  const keys: readonly unknown[] = writeKey === undefined ? [] : [writeKey].flat()
  const kept = [key, ...keys.slice(0, keep)]
  if (kept.length > maxWriteKeys) return { kind: 'too_many' }
  return { kind: 'rotated', document: { ...document, writeKey: kept.length === 1 ? key : kept }, keys: kept.length }
}
