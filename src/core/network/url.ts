/**
 * Returns why a text is not allowed as a URL. The reason never contains the text, which may be
 * secret.
 */
export function refuseUrl(value: string): string | undefined {
  // The URL parser would silently remove or replace these characters.
  if (/[\s\\\p{Cc}]/u.test(value)) return 'must not contain white space, backslashes or control characters'
  if (!/^https?:\/\//i.test(value)) return 'must begin with http:// or https://'
  const url = parseUrl(value)
  if (url === undefined) return 'is not a valid URL'
  if (url.username !== '' || url.password !== '') return 'must not contain credentials'
  if (/^\.+$/.test(url.hostname)) return 'must contain a host name, not only dots'
  return undefined
}

export function parseUrl(value: string): URL | undefined {
  return URL.parse(value) ?? undefined
}

/**
 * Returns the normal form of a URL, which is equal for two spellings of one URL. The normal form
 * has no fragment, because clients do not send it.
 */
export function urlIdentity(url: URL): string {
  const copy = new URL(url)
  copy.hash = ''
  return copy.href
}

export const isPlainHttp = (url: string): boolean => /^http:/i.test(url)

/** The port to connect to. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

/** The parts of an HTTP URL that a request needs. */
export interface UrlParts {
  readonly isTls: boolean
  /** For example `https://example.com:8443`. */
  readonly origin: string
  /** The `Host` header, with the port unless it is the default port. */
  readonly host: string
  /** The host without the brackets of an IPv6 address. */
  readonly hostname: string
  readonly port: number
  readonly path: string
}

/** Splits a URL into its parts; `undefined` when the text is not an HTTP URL. */
export function urlParts(text: string): UrlParts | undefined {
  const url = parseUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol) ? partsOf(url) : undefined
}

export function partsOf(url: URL): UrlParts {
  const { protocol, origin, host, hostname, pathname, search } = url
  return {
    isTls: protocol === 'https:',
    origin,
    host,
    port: portOf(url),
    path: pathname + search,
    hostname: hostname.replace(/^\[|\]$/g, ''),
  }
}
