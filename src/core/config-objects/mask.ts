import { createHash } from 'node:crypto'
import { parseUrl } from '../network/url.ts'
import { mask } from '../secret.ts'
import { formatPath, type Path, type SettingsProblem, valueAt } from '../settings/problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { type SecretValue, secretsIn, withSecrets } from './secret-paths.ts'

/**
 * Minimum length of a secret in characters for a fingerprint. A shorter one could be found by
 * hashing all candidates.
 */
const minFingerprinted = 16

export interface MaskedDocument {
  readonly document: ObjectDocument
  /** The first 8 hex digits of the SHA-256 of a secret, by formatted path. */
  readonly fingerprints: Readonly<Record<string, string>>
}

/** Masks all secrets of a document. A value that is not text is masked too. */
export function maskDocument(kind: ObjectKind, document: ObjectDocument): MaskedDocument {
  const fingerprints: Record<string, string> = {}
  const masked = withSecrets(kind, document, secret => {
    // The file of a secret is not secret.
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

const maskedText = ({ holds, value }: SecretValue): string =>
  holds === 'url' && typeof value === 'string' ? maskedUrl(value) : mask

/** A URL without a path and query as it is; otherwise the mask replaces both. */
export function maskedUrl(text: string): string {
  const url = parseUrl(text)
  if (url === undefined) return mask
  return url.pathname === '/' && url.search === '' && url.hash === '' ? text : `${url.origin}/${mask}`
}

export interface Unmasked {
  readonly document: ObjectDocument
  readonly problems: readonly SettingsProblem[]
}

/**
 * Replaces each masked value of `next` by the secret of `current` at the same place. A single value
 * is the first entry of a list. A webhook keeps its secrets when it has the id of a webhook of
 * `current`, or otherwise the same URL, or otherwise the same position. It keeps them only for the
 * same scheme and host: otherwise an operator could read a header by sending it elsewhere. For the
 * same reason, a client secret is kept only while its token URL and the webhooks have no new host.
 */
export function unmask(kind: ObjectKind, next: ObjectDocument, current: ObjectDocument | undefined): Unmasked {
  const problems: SettingsProblem[] = []
  const known = secretsIn(kind, current ?? {})
  const document = withSecrets(kind, next, secret => {
    if (!isMasked(secret)) return secret.value
    if (isClientSecret(secret.path) && !hasSameHosts(next, current ?? {})) {
      problems.push({ path: secret.path, ...newHost })
      return secret.value
    }
    const kept = known.get(formatPath(placeInCurrent(secret.path, next, current ?? {}, known)))
    if (typeof kept?.value === 'string' && !isMasked(kept) && maskedText(kept) === secret.value) return kept.value
    problems.push({
      path: secret.path,
      message: 'is masked, but there is no secret to keep at this place',
      hint: 'write the secret itself',
    })
    return secret.value
  })
  return { document, problems }
}

/** Whether a value is the mask, or a URL that ends in it. */
export const isMasked = ({ holds, value }: Pick<SecretValue, 'holds' | 'value'>): boolean =>
  value === mask || (holds === 'url' && typeof value === 'string' && value.endsWith(`/${mask}`))

const newHost = {
  message: 'cannot be kept, because auth.oauth2.tokenUrl or a webhook has a new host',
  hint: 'write the client secret again',
}

const isClientSecret = (path: Path): boolean => path.at(-1) === 'clientSecret'

/** Whether the token URL and all webhooks of `next` have a scheme and host that `current` has. */
function hasSameHosts(next: ObjectDocument, current: ObjectDocument): boolean {
  const tokenUrl: Path = ['auth', 'oauth2', 'tokenUrl']
  const known = urlsOf(current)
  return (
    isSameHost(valueAt(next, tokenUrl), valueAt(current, tokenUrl)) &&
    urlsOf(next).every(url => known.some(before => isSameHost(url, before)))
  )
}

function urlsOf(document: ObjectDocument): readonly unknown[] {
  const webhooks = valueAt(document, ['webhooks'])
  return Array.isArray(webhooks) ? webhooks.map((webhook: unknown) => valueAt(webhook, ['url'])) : []
}

/**
 * Finds the stored secret that a masked value means. The masked value is in `next` at `path`; the
 * result is the path of the secret in `current`.
 */
function placeInCurrent(
  path: Path,
  next: ObjectDocument,
  current: ObjectDocument,
  known: ReadonlyMap<string, SecretValue>,
): Path {
  const [list, index] = path
  if (list === 'webhooks' && typeof index === 'number') {
    const from = webhookInCurrent(index, next, current)
    return from === undefined ? [] : ['webhooks', from, ...path.slice(2)]
  }
  if (known.has(formatPath(path))) return path
  // `sharedSecret` and `sharedSecret[0]` are the same place.
  const asList: Path = [...path, 0]
  if (known.has(formatPath(asList))) return asList
  return path.at(-1) === 0 ? path.slice(0, -1) : path
}

function webhookInCurrent(index: number, next: ObjectDocument, current: ObjectDocument): number | undefined {
  const own = valueAt(next, ['webhooks', index])
  const webhooks = valueAt(current, ['webhooks'])
  if (!Array.isArray(webhooks)) return undefined
  const [id, url] = [valueAt(own, ['id']), valueAt(own, ['url'])]
  const found =
    id === undefined
      ? [webhooks.findIndex(each => valueAt(each, ['url']) === url), index].find(at => at >= 0)
      : webhooks.findIndex(each => valueAt(each, ['id']) === id)
  return found !== undefined && isSameHost(url, valueAt(webhooks[found], ['url'])) ? found : undefined
}

function isSameHost(url: unknown, before: unknown): boolean {
  if (typeof url !== 'string' || typeof before !== 'string') return false
  return url === before || (parseUrl(url)?.origin ?? '') === parseUrl(before)?.origin
}
