import { parseUrl } from '../network/url.ts'
import { mask, revealed } from '../secret.ts'
import type { Destination } from '../settings/settings.ts'

/**
 * Minimum length of a masked secret, in characters. Shorter ones, for example `1`, also occur in
 * texts by chance.
 */
const minMasked = 8

/**
 * The secrets of a destination, and the parts of its URLs and headers that a response may repeat.
 */
export function secretTextsOf(destination: Destination): readonly string[] {
  const { webhooks, secrets, signingKeys = [], auth, tlsIdentity } = destination
  const keys = [...secrets, ...signingKeys, auth?.oauth2?.clientSecret, tlsIdentity?.key]
  return [
    ...keys.flatMap(key => (key === undefined ? [] : [key.reveal()])),
    ...webhooks.flatMap(({ url, headers }) => [
      ...partsOfUrl(revealed(url)),
      ...Object.values(headers).flatMap(value => partsOfHeader(revealed(value))),
    ]),
  ]
}

/**
 * The whole header value, and the value without its first word (a scheme, for example `Bearer`).
 */
const partsOfHeader = (value: string): readonly string[] => [value, value.slice(value.indexOf(' ') + 1)]

/** The path and query of a URL, each segment and each value of the query, encoded and decoded. */
function partsOfUrl(text: string): readonly string[] {
  const url = parseUrl(text)
  if (url === undefined) return [text]
  const { pathname, search, searchParams } = url
  const segments = pathname.split('/')
  const values = search.split(/[?&]/).map(pair => pair.slice(pair.indexOf('=') + 1))
  return [pathname + search, ...segments, ...segments.map(decoded), ...values, ...searchParams.values()]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Masks each secret, also in its JSON form. If the text was cut off, also masks the beginning of a
 * secret at the end of the text.
 */
export function maskSecrets(text: string, secrets: readonly string[], isCut: boolean): string {
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .filter(form => form.length >= minMasked)
    .sort((a, b) => b.length - a.length)
  const masked = forms.reduce((shown, form) => shown.replaceAll(form, mask), text)
  const cut = isCut ? Math.max(0, ...forms.map(form => beginningAtEnd(masked, form))) : 0
  return cut === 0 ? masked : masked.slice(0, -cut) + mask
}

/**
 * Returns a secret in three forms: unchanged, as in JSON, and as in the JSON of PHP, which also
 * escapes slashes.
 */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, json, json.replaceAll('/', '\\/')]
}

/**
 * Returns the length of the longest beginning of `secret` with which `text` ends; 0 if it is
 * shorter than `minMasked`.
 */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= minMasked; length--)
    if (text.endsWith(secret.slice(0, length))) return length
  return 0
}
