import { createHash } from 'node:crypto'
import { parseUrl } from '../network/url.ts'
import { mask } from '../secret.ts'
import { formatPath, valueAt } from '../settings/settings-problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { type SecretValue, withSecrets } from './find-and-replace-secrets.ts'

/**
 * Minimum length in characters of a secret that gets a fingerprint. A shorter secret could be
 * guessed from its fingerprint.
 */
const minFingerprinted = 16

type ShownValue = Pick<SecretValue, 'holds' | 'value'>

export interface MaskedDocument {
  readonly document: ObjectDocument
  /** The fingerprint of each secret that has one (`fingerprintOf`), by formatted path. */
  readonly fingerprints: Readonly<Record<string, string>>
}

/**
 * Masks all secrets of a document. A value that is not text is masked too, unless it names a file.
 */
export function maskDocument(kind: ObjectKind, document: ObjectDocument): MaskedDocument {
  const fingerprints: Record<string, string> = {}
  const masked = withSecrets(kind, document, secret => {
    if (isFileReference(secret.value)) return secret.value
    const shown = maskedText(secret)
    const print = shown === secret.value ? undefined : fingerprintOf(secret.value)
    if (print !== undefined) fingerprints[formatPath(secret.path)] = print
    return shown
  })
  return { document: masked, fingerprints }
}

/** The fingerprint of a secret; `undefined` when the secret is too short for one. */
export const fingerprintOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length >= minFingerprinted
    ? createHash('sha256').update(value).digest('hex').slice(0, 8)
    : undefined

const isFileReference = (value: unknown): boolean => typeof valueAt(value, ['file']) === 'string'

const maskedText = ({ holds, value }: ShownValue): string =>
  holds === 'url' && typeof value === 'string' ? maskedUrl(value) : mask

/** Masks the path, query and fragment of a URL. */
export function maskedUrl(text: string): string {
  const url = parseUrl(text)
  if (url === undefined) return mask
  return url.pathname === '/' && url.search === '' && url.hash === '' ? text : `${url.origin}/${mask}`
}

/** A mask in a document: `***`, or for a URL its scheme and host with the path `/***`. */
export interface Mask {
  readonly shown: string
  /** The text in brackets after the mask, as in `*** (5d41402a)`; `undefined` without brackets. */
  readonly fingerprint: string | undefined
}

/** Parses a mask, with or without a fingerprint. Returns `undefined` if the value is not a mask. */
export function maskIn({ holds, value }: ShownValue): Mask | undefined {
  if (typeof value !== 'string') return undefined
  const bracket = value.endsWith(')') ? value.lastIndexOf(' (') : -1
  const shown = bracket === -1 ? value : value.slice(0, bracket)
  if (shown !== mask && !(holds === 'url' && shown.endsWith(`/${mask}`))) return undefined
  return { shown, fingerprint: bracket === -1 ? undefined : value.slice(bracket + 2, -1) }
}

/**
 * Whether a mask may be the mask of this secret: the shown text and the fingerprint, if any, must
 * fit.
 */
export const mayBeMaskOf = ({ shown, fingerprint }: Mask, secret: ShownValue): boolean =>
  typeof secret.value === 'string' &&
  maskIn(secret) === undefined &&
  maskedText(secret) === shown &&
  (fingerprint === undefined || fingerprintOf(secret.value) === fingerprint)
