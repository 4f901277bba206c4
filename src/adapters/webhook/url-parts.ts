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
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const { origin, host, hostname, port, pathname, search } = url
  const isTls = url.protocol === 'https:'
  return {
    ...{ isTls, origin, host, path: pathname + search },
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isTls ? 443 : 80)),
  }
}
