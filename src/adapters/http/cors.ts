import type { IncomingHttpHeaders } from 'node:http'

/**
 * Request headers that are always allowed. They are listed, because `*` does not cover
 * Authorization, which browser SDKs send.
 */
const headersOfSdks = ['authorization', 'content-type', 'x-retry-count', 'x-write-key'] as const
/** How long a browser may cache a preflight. Browsers apply their own maximum. */
const maxAgeSeconds = 86_400

const originPattern = /^[\x21-\x7e]{1,512}$/
const headerListPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/
const longestHeaderList = 1_024

/**
 * Returns the CORS headers. Every origin is allowed, because write keys are public in browsers and
 * the API uses no cookies. `sendBeacon` sends credentials: browsers then refuse `*`, so the header
 * repeats the origin.
 */
export function crossOrigin({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> {
  if (origin === undefined || !originPattern.test(origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Retry-After',
    vary: 'Origin',
  }
}

export const isPreflight = ({ origin, ...headers }: IncomingHttpHeaders): boolean =>
  origin !== undefined && headers['access-control-request-method'] !== undefined

/**
 * The headers of a preflight response, in addition to `crossOrigin`. `methods` are the methods of
 * the path.
 */
export function preflight(headers: IncomingHttpHeaders, methods: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']),
    'access-control-max-age': String(maxAgeSeconds),
  }
}

/**
 * Allows the headers of SDKs and all headers that the preflight names, because no request header
 * can do harm in this API.
 */
function allowedHeaders(asked: string | undefined): string {
  const isList = asked !== undefined && asked.length <= longestHeaderList && headerListPattern.test(asked)
  const more = isList ? asked.split(',').map(name => name.trim().toLowerCase()) : []
  return [...new Set([...headersOfSdks, ...more])].join(', ')
}
