/** Why a text cannot be the URL of a webhook or of the registry; never repeats it, since a query may hold a secret. */
export function refuseUrl(value: string): string | undefined {
  // The parser of URLs would silently drop or mend these.
  if (/[\s\\\p{Cc}]/u.test(value)) return 'must not contain white space, backslashes or control characters'
  if (!/^https?:\/\//i.test(value)) return 'must begin with http:// or https://'
  const url = parseUrl(value)
  if (url === undefined) return 'is not a valid URL'
  if (url.username !== '' || url.password !== '') return 'must not contain credentials'
  return undefined
}

export function parseUrl(value: string): URL | undefined {
  return URL.parse(value) ?? undefined
}

/** What is equal for two spellings of the same target; the fragment is never sent. */
export function urlIdentity(url: URL): string {
  const copy = new URL(url)
  copy.hash = ''
  return copy.href
}

/** The port that is dialled. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

/** What a request needs of a URL of HTTP. */
export interface UrlParts {
  readonly isTls: boolean
  /** `https://example.com:8443` */
  readonly origin: string
  /** The `Host` header: with the port where it is not the usual one. */
  readonly host: string
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string
  readonly port: number
  readonly path: string
}

/** Undefined when this is no URL of HTTP. */
export function urlParts(text: string): UrlParts | undefined {
  const url = parseUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol) ? partsOf(url) : undefined
}

/** Of a URL of HTTP. */
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
