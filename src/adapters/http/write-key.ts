import type { IncomingMessage } from 'node:http'

/**
 * The write key in the headers: the user of `Authorization: Basic` (with a colon or without, any alphabet of base64, padded or
 * not), else `X-Write-Key` as it is: whether what follows a colon belongs to the key or is Jitsu's secret, the keys tell. What
 * cannot be read is as if absent: the body may have one.
 */
export function headerKeyOf(request: IncomingMessage): string | undefined {
  return basicUser(request.headers.authorization) ?? (firstOf(request, 'x-write-key') || undefined)
}

/** The write key in the query. Of several the first one that says anything counts. */
export function queryKeyOf(query: unknown): string | undefined {
  const { writeKey } = query as { readonly writeKey?: string | readonly string[] }
  return [writeKey].flat().find(key => key !== undefined && key !== '')
}

const basicPattern = /^basic[ \t]+([a-z0-9+/_-]+={0,2})[ \t]*$/i

function basicUser(authorization: string | undefined): string | undefined {
  const encoded = basicPattern.exec(authorization ?? '')?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString().split(':', 1)[0] || undefined
}

/** Node joins fields of one name with `, `, which may as well stand in a value. */
function firstOf(request: IncomingMessage, name: string): string | undefined {
  const joined = request.headers[name]
  return typeof joined === 'string' && joined.includes(', ') ? request.headersDistinct[name]?.[0] : (joined as string)
}
