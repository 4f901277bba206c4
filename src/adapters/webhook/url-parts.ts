import { parseUrl, portOf } from '../../core/settings/url.ts'

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
    ...{ isTls: protocol === 'https:', origin, host, port: portOf(url), path: pathname + search },
    hostname: hostname.replace(/^\[|\]$/g, ''),
  }
}
