import { createHash } from 'node:crypto'
import { parseUrl } from '../network/url.ts'
import { mask } from '../secret.ts'
import { formatPath, type Path, type SettingsProblem, valueAt } from '../settings/problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { type SecretValue, secretsIn, withSecrets } from './secret-paths.ts'

/**
 * Minimum length in characters of a secret that gets a fingerprint. A shorter secret could be found
 * from its fingerprint, by hashing all candidates.
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
    // A document can name a file that contains the secret. The name of the file is not secret.
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

/** Masks the path, query and fragment of a URL. A URL without these parts is returned unchanged. */
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
 * Replaces each masked value of the document `next` by the secret that the document `current` has
 * at the same path. A single secret counts as the first entry of a list. A webhook with an id keeps
 * the secrets of the webhook with this id. A webhook without an id keeps those of the webhook with
 * the same URL, or otherwise at the same position.
 *
 * A webhook keeps secrets only for the same scheme and host. Otherwise an operator could read a
 * secret header by changing the URL to a host of their own. For the same reason, a client secret is
 * kept only if the token URL and the webhooks have no new host.
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
      message: 'is masked (***), but the stored object has no secret in this field',
      hint: 'write the secret instead of ***',
    })
    return secret.value
  })
  return { document, problems }
}

/** Whether a value is the mask `***`, or a URL that ends in `/***`. */
export const isMasked = ({ holds, value }: Pick<SecretValue, 'holds' | 'value'>): boolean =>
  value === mask || (holds === 'url' && typeof value === 'string' && value.endsWith(`/${mask}`))

const newHost = {
  message:
    'is masked (***), but auth.oauth2.tokenUrl or a webhook has a new host: Hookline does not use a stored client secret with a new host',
  hint: 'write the client secret instead of ***',
}

const isClientSecret = (path: Path): boolean => path.at(-1) === 'clientSecret'

/**
 * Whether the token URL of `next` has the scheme and host of the token URL of `current`, and each
 * webhook of `next` has those of a webhook of `current`.
 */
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
 * Finds the stored secret that a masked value stands for. `path` is the path of the masked value in
 * `next`. Returns the path of the secret in `current`.
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
  // When there is one secret, `sharedSecret` and `sharedSecret[0]` are paths of the same secret.
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
