import type { IncomingHttpHeaders } from 'node:http'

/** Named one by one: `*` does not cover Authorization, which the browser SDKs send. */
const headersOfSdks = ['authorization', 'content-type', 'x-retry-count', 'x-write-key'] as const
/** A day; browsers cut it to what they allow. */
const maxAgeSeconds = 86_400

const originPattern = /^[\x21-\x7e]{1,512}$/
const headerListPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/
const longestHeaderList = 1_024

/**
 * What lets a page read the answer. Any page may send with a key, which is no secret in a browser, and no cookie counts here.
 * So every origin is allowed, by its name: `sendBeacon` sends with credentials, for which `*` does not hold.
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

/** Whether an OPTIONS request asks for a page whether it may send another one. */
export const isPreflight = ({ origin, ...headers }: IncomingHttpHeaders): boolean =>
  origin !== undefined && headers['access-control-request-method'] !== undefined

/** What a preflight wants to know, beside `crossOrigin`. `methods` are those of the path. */
export function preflight(headers: IncomingHttpHeaders, methods: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']),
    'access-control-max-age': String(maxAgeSeconds),
  }
}

/** Those that SDKs are known to send, and whatever else is asked for: none of them has a meaning that could do harm. */
function allowedHeaders(asked: string | undefined): string {
  const isList = asked !== undefined && asked.length <= longestHeaderList && headerListPattern.test(asked)
  const more = isList ? asked.split(',').map(name => name.trim().toLowerCase()) : []
  return [...new Set([...headersOfSdks, ...more])].join(', ')
}
