import { parseUrl } from '../network/url.ts'
import { mask, revealed } from '../secret.ts'
import type { Destination } from '../settings/settings.ts'

/**
 * Minimum length in characters of a secret that is masked in a text. A shorter one, for example the
 * header value `1`, also occurs in texts that do not contain the secret.
 */
const minMasked = 8

/**
 * The secrets of a destination as texts, and those parts of its URLs and headers that an endpoint
 * may repeat in its response.
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

/** A header value, and the value without its first word, which can be a scheme such as `Bearer`. */
const partsOfHeader = (value: string): readonly string[] => [value, value.slice(value.indexOf(' ') + 1)]

/**
 * The path and query of a URL, and each segment of the path and each value of the query: as they
 * are in the URL, and decoded.
 */
function partsOfUrl(text: string): readonly string[] {
  const url = parseUrl(text)
  if (url === undefined) return [text]
  const { pathname, search, searchParams } = url
  const segments = pathname.split('/')
  const values = search.split(/[?&]/).map(pair => pair.slice(pair.indexOf('=') + 1))
  return [pathname + search, ...segments, ...segments.map(decoded), ...values, ...searchParams.values()]
}

/** Decodes a part of a URL. Returns the part unchanged if its percent encoding is not valid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Returns a text in which each of these secrets is `***`. A secret is found if the text contains it
 * unchanged, or escaped as in JSON. With `isCut`, the text may end in the middle of a secret: the
 * first characters of a secret at the end of the text are then masked too.
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
 * The forms in which a text may contain a secret: unchanged, escaped as in JSON, and escaped as in
 * the JSON of PHP, which also escapes slashes.
 */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, json, json.replaceAll('/', '\\/')]
}

/**
 * Returns how many of the first characters of a secret are at the end of a text. 0 if they are
 * fewer than `minMasked`.
 */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= minMasked; length--)
    if (text.endsWith(secret.slice(0, length))) return length
  return 0
}
