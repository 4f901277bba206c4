import { parseUrl } from '../network/url.ts'
import { maxProblems, type Path, type SettingsProblem, valueAt } from '../settings/settings-problem.ts'
import type { ObjectDocument, ObjectKind } from './config-objects.ts'
import { canStandFor, fingerprintOf, type Mask, maskIn } from './mask.ts'
import { type SecretValue, withSecrets } from './secret-paths.ts'

export interface Unmasked {
  readonly document: ObjectDocument
  readonly problems: readonly SettingsProblem[]
}

/**
 * Replaces each masked value of the document `next` by the secret that the document `current` has
 * in the same field.
 *
 * In a list, a mask with a fingerprint means the secret with this fingerprint. A mask without a
 * fingerprint means the secret at the same position. If the list has become shorter, a mask that
 * can mean several secrets is a problem: the wrong choice would keep the secret that the operator
 * wants to remove.
 *
 * A webhook keeps secrets only for the same scheme and host. Otherwise an operator could read a
 * secret header by changing the URL to a host of their own. For the same reason, a client secret is
 * kept only if the token URL and the webhooks have no new host.
 */
export function unmask(kind: ObjectKind, next: ObjectDocument, current: ObjectDocument = {}): Unmasked {
  const problems: SettingsProblem[] = []
  let isHostKept: boolean | undefined
  const hostsKept = (): boolean => (isHostKept ??= hasSameHosts(next, current))
  const document = withSecrets(kind, next, secret => {
    const mask = maskIn(secret)
    // Only the first `maxProblems` problems are shown, and a document can have 100,000 masks.
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
  const found = [...new Set(candidates.filter(value => canStandFor(mask, { holds, value })))]
  if (found.length === 0) return mask.fingerprint === undefined ? notStored : wrongFingerprint
  return found.length === 1 ? { kind: 'found', value: found[0] } : ambiguous(found, mask)
}

const notStored = {
  kind: 'refused',
  message: 'is masked (***), but the stored object has no secret in this field',
  hint: 'write the secret instead of ***',
} as const

const wrongFingerprint = {
  kind: 'refused',
  message: 'is masked (***), but the stored object has no secret with this fingerprint in this field',
  hint: 'write the secret instead of ***, or correct the fingerprint',
} as const

const newHost = {
  kind: 'refused',
  message:
    'is masked (***), but auth.oauth2.tokenUrl or a webhook has a new host: Hookline does not use a stored client secret with a new host',
  hint: 'write the client secret instead of ***',
} as const

const newWebhookHost = {
  kind: 'refused',
  message:
    'is masked (***), but the URL of this webhook has a new host: Hookline does not use stored secrets of a webhook with a new host',
  hint: 'write the secret instead of ***',
} as const

function ambiguous(secrets: readonly unknown[], { shown }: Mask): StoredSecret {
  const masks = secrets.map(fingerprintOf).flatMap(print => (print === undefined ? [] : [`${shown} (${print})`]))
  return {
    kind: 'refused',
    message:
      'is masked (***), but this list has fewer entries than the stored list, so Hookline does not know which stored secret to keep here',
    hint:
      masks.length === 0
        ? 'write the secret instead of ***'
        : `write the secret, or one of these masks with a fingerprint: ${masks.join(', ')}`,
  }
}

/**
 * Returns the stored values that a mask at this path of `next` can mean. The caller must still
 * compare the mask with each value (`canStandFor`).
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
 * Returns the stored webhooks whose secrets the webhook of `next` at `position` can keep. They must
 * have the same scheme and host. The first rule that applies decides:
 * 1. Only the stored webhook with the same id.
 * 2. The stored webhooks with the same URL or, for a masked URL with a fingerprint, with this
 *    fingerprint.
 * 3. If the list has not become shorter: only the stored webhook at the same position.
 * 4. The stored webhooks with the same masked URL or, if the new URL is not masked, all.
 */
function webhooksFor(position: number, next: ObjectDocument, current: ObjectDocument): readonly unknown[] {
  const stored = listAt(current, ['webhooks'])
  const own = valueAt(next, ['webhooks', position])
  const [id, url] = [valueAt(own, ['id']), valueAt(own, ['url'])]
  const hasHost = (webhook: unknown): boolean => isSameHost(url, valueAt(webhook, ['url']))
  const withId = stored.filter(webhook => id !== undefined && valueAt(webhook, ['id']) === id)
  if (withId.length > 0) return withId.filter(hasHost)
  // The operator may have added an id to a stored webhook without one. But a stored webhook with
  // another id is a different webhook.
  const canBe = (webhook: unknown): boolean =>
    hasHost(webhook) && (id === undefined || valueAt(webhook, ['id']) === undefined)
  const mask = maskIn({ holds: 'url', value: url })
  const sameUrl = stored.filter(webhook => {
    const value = valueAt(webhook, ['url'])
    return canBe(webhook) && (mask === undefined ? value === url : canStandFor(mask, { holds: 'url', value }))
  })
  if (mask === undefined ? sameUrl.length > 0 : mask.fingerprint !== undefined) return sameUrl
  if (countAt(next, ['webhooks']) >= stored.length) return stored.slice(position, position + 1).filter(canBe)
  return mask === undefined ? stored.filter(canBe) : sameUrl
}

/**
 * Whether a masked client secret may be kept: the token URL and the webhooks of `next` have no
 * scheme or host that `current` does not have.
 */
function hasSameHosts(next: ObjectDocument, current: ObjectDocument): boolean {
  const tokenUrl: Path = ['auth', 'oauth2', 'tokenUrl']
  const known = urlsOf(current)
  return (
    isSameHost(valueAt(next, tokenUrl), valueAt(current, tokenUrl)) &&
    urlsOf(next).every(url => known.some(before => isSameHost(url, before)))
  )
}

/** Whether the webhook at this path of `next` has a new scheme or host. */
function hasNewHost(path: Path, next: ObjectDocument, current: ObjectDocument): boolean {
  const own = valueAt(next, path.slice(0, 2))
  const id = valueAt(own, ['id'])
  const stored = listAt(current, ['webhooks'])
  const withId = stored.filter(webhook => id !== undefined && valueAt(webhook, ['id']) === id)
  const before = withId.length > 0 ? withId : stored
  return before.length > 0 && !before.some(webhook => isSameHost(valueAt(own, ['url']), valueAt(webhook, ['url'])))
}

function urlsOf(document: ObjectDocument): readonly unknown[] {
  const webhooks = valueAt(document, ['webhooks'])
  return Array.isArray(webhooks) ? webhooks.map((webhook: unknown) => valueAt(webhook, ['url'])) : []
}

function isSameHost(url: unknown, before: unknown): boolean {
  if (typeof url !== 'string' || typeof before !== 'string') return false
  return url === before || (parseUrl(url)?.origin ?? '') === parseUrl(before)?.origin
}
