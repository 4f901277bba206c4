import { parseUrl } from '../network/url.ts'
import { maxProblems, type Path, type SettingsProblem, valueAt } from '../settings/settings-problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { type SecretValue, withSecrets } from './find-and-replace-secrets.ts'
import { fingerprintOf, type Mask, maskIn, mayBeMaskOf } from './mask.ts'

export interface Unmasked {
  readonly document: ObjectDocument
  readonly problems: readonly SettingsProblem[]
}

/**
 * Replaces each mask in `next` by the secret in the same field of `current`. A mask that fits
 * several secrets is refused. A new host gets no stored secret, because the owner of this host
 * could read the secret.
 */
export function unmask(kind: ObjectKind, next: ObjectDocument, current: ObjectDocument = {}): Unmasked {
  const problems: SettingsProblem[] = []
  let isHostKept: boolean | undefined
  const hostsKept = (): boolean => (isHostKept ??= hasSameHosts(next, current))
  const document = withSecrets(kind, next, secret => {
    const mask = maskIn(secret)
    // Later masks are not checked: only the first `maxProblems` problems are shown, and a document
    // can have 100,000 masks.
    if (mask === undefined || problems.length === maxProblems) return secret.value
    const stored = storedSecret(secret, mask, { next, current, hostsKept })
    if (stored.kind === 'found') return stored.value
    const { message, hint } = stored
    problems.push({ path: secret.path, message, hint })
    return secret.value
  })
  return { document, problems }
}

type StoredSecret =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string }

interface Compared {
  readonly next: ObjectDocument
  readonly current: ObjectDocument
  /** The result of `hasSameHosts`, computed once, because `next` may have many URLs. */
  readonly hostsKept: () => boolean
}

function storedSecret({ path, holds }: SecretValue, mask: Mask, { next, current, hostsKept }: Compared): StoredSecret {
  if (path[0] === 'auth' && !hostsKept()) return newHost
  if (path[0] === 'webhooks' && hasNewHost(path, next, current)) return newWebhookHost
  const candidates = candidatesFor(path, mask, next, current)
  const found = [...new Set(candidates.filter(value => mayBeMaskOf(mask, { holds, value })))]
  if (found.length === 0) return mask.fingerprint === undefined ? notStored : wrongFingerprint
  return found.length === 1 ? { kind: 'found', value: found[0] } : ambiguous(found, mask)
}

const notStored = {
  kind: 'refused',
  message: 'is masked (***), but the stored object has no secret in this field',
  hint: 'write the secret instead of the mask ***',
} as const

const wrongFingerprint = {
  kind: 'refused',
  message: 'is masked (***), but the fingerprint after *** matches no stored secret of this field',
  hint: 'to keep the stored secret, copy the mask (*** and the fingerprint) unchanged; to change the secret, write the new one instead of the mask',
} as const

const newHost = {
  kind: 'refused',
  message:
    'is masked (***), but auth.oauth2.tokenUrl or the URL of a webhook has a new host: Hookline does not use a stored client secret with a new host',
  hint: 'write the client secret instead of the mask ***',
} as const

const newWebhookHost = {
  kind: 'refused',
  message:
    'is masked (***), but the URL of this webhook has a new host: Hookline does not use stored secrets with a new host',
  hint: 'write the secret instead of the mask ***',
} as const

function ambiguous(secrets: readonly unknown[], { shown }: Mask): StoredSecret {
  const masks = secrets.map(fingerprintOf).flatMap(print => (print === undefined ? [] : [`${shown} (${print})`]))
  return {
    kind: 'refused',
    message:
      'is masked (***), but this list has fewer entries than the stored list, so Hookline does not know which stored secret to keep here',
    hint:
      masks.length === 0
        ? 'write the secret instead of the mask ***'
        : `write the new secret; to keep a stored secret, write its mask: ${masks.join(', ')}`,
  }
}

/**
 * The stored values that a mask at `path` can mean. The caller must compare each with the mask
 * (`mayBeMaskOf`).
 */
function candidatesFor(path: Path, mask: Mask, next: ObjectDocument, current: ObjectDocument): readonly unknown[] {
  const [list, index] = path
  if (list === 'webhooks' && typeof index === 'number')
    return webhooksFor(index, next, current).map(webhook => valueAt(webhook, path.slice(2)))
  const last = path.at(-1)
  const isEntry = typeof last === 'number'
  const field = isEntry ? path.slice(0, -1) : path
  const stored = listAt(current, field)
  const isShorter = countAt(next, field) < stored.length
  if (isShorter || mask.fingerprint !== undefined) return stored
  const position = isEntry ? last : 0
  return stored.slice(position, position + 1)
}

function listAt(document: ObjectDocument, path: Path): readonly unknown[] {
  const value = valueAt(document, path)
  return value === undefined ? [] : [value].flat()
}

function countAt(document: ObjectDocument, path: Path): number {
  const value = valueAt(document, path)
  if (Array.isArray(value)) return value.length
  return value === undefined ? 0 : 1
}

/**
 * Returns the stored webhooks whose secrets the new webhook (at `position` of `next`) can keep. All
 * have the scheme and host of the new webhook. The first rule with a true condition decides:
 * 1. A stored webhook has the same id as the new webhook: that stored webhook.
 * 2. The new URL is a mask with a fingerprint: the webhooks whose URL has this fingerprint.
 * 3. A stored webhook has the same URL as the new webhook: the webhooks with this URL.
 * 4. The list has not become shorter: the webhook at the same position.
 * 5. The new URL is a mask without a fingerprint: the webhooks whose URL fits this mask.
 * 6. Otherwise: all stored webhooks.
 */
function webhooksFor(position: number, next: ObjectDocument, current: ObjectDocument): readonly unknown[] {
  const stored = listAt(current, ['webhooks'])
  const newWebhook = valueAt(next, ['webhooks', position])
  const [id, url] = [valueAt(newWebhook, ['id']), valueAt(newWebhook, ['url'])]
  const hasHost = (webhook: unknown): boolean => isSameHost(url, valueAt(webhook, ['url']))
  const withId = stored.filter(webhook => id !== undefined && valueAt(webhook, ['id']) === id)
  if (withId.length > 0) return withId.filter(hasHost)
  // A new webhook with an id can be a stored webhook without an id, to which the operator has added
  // the id.
  const canBe = (webhook: unknown): boolean =>
    hasHost(webhook) && (id === undefined || valueAt(webhook, ['id']) === undefined)
  const mask = maskIn({ holds: 'url', value: url })
  const sameUrl = stored.filter(webhook => {
    const value = valueAt(webhook, ['url'])
    return canBe(webhook) && (mask === undefined ? value === url : mayBeMaskOf(mask, { holds: 'url', value }))
  })
  if (mask === undefined ? sameUrl.length > 0 : mask.fingerprint !== undefined) return sameUrl
  if (countAt(next, ['webhooks']) >= stored.length) return stored.slice(position, position + 1).filter(canBe)
  return mask === undefined ? stored.filter(canBe) : sameUrl
}

/**
 * Whether a masked client secret may be kept: `tokenUrl` must keep its scheme and host, and each
 * webhook URL of `next` must have a scheme and host that a URL of `current` has.
 */
function hasSameHosts(next: ObjectDocument, current: ObjectDocument): boolean {
  const tokenUrl: Path = ['auth', 'oauth2', 'tokenUrl']
  const known = urlsOf(current)
  return (
    isSameHost(valueAt(next, tokenUrl), valueAt(current, tokenUrl)) &&
    urlsOf(next).every(url => known.some(before => isSameHost(url, before)))
  )
}

/**
 * Whether the webhook at this path of `next` has a scheme or host that no stored webhook has. If a
 * stored webhook has the same id, only that webhook counts. False without stored webhooks.
 */
function hasNewHost(path: Path, next: ObjectDocument, current: ObjectDocument): boolean {
  const newWebhook = valueAt(next, path.slice(0, 2))
  const id = valueAt(newWebhook, ['id'])
  const stored = listAt(current, ['webhooks'])
  const withId = stored.filter(webhook => id !== undefined && valueAt(webhook, ['id']) === id)
  const before = withId.length > 0 ? withId : stored
  return (
    before.length > 0 && !before.some(webhook => isSameHost(valueAt(newWebhook, ['url']), valueAt(webhook, ['url'])))
  )
}

function urlsOf(document: ObjectDocument): readonly unknown[] {
  const webhooks = valueAt(document, ['webhooks'])
  return Array.isArray(webhooks) ? webhooks.map((webhook: unknown) => valueAt(webhook, ['url'])) : []
}

function isSameHost(url: unknown, before: unknown): boolean {
  if (typeof url !== 'string' || typeof before !== 'string') return false
  return url === before || (parseUrl(url)?.origin ?? '') === parseUrl(before)?.origin
}
