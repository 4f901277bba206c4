import type { IncomingMessage } from 'node:http'

/**
 * The write key in the headers: the user of `Authorization: Basic` (with a colon or without, any alphabet of base64, padded or
 * not), else `X-Write-Key`, in which Jitsu writes `key:secret`. What cannot be read is as if absent: the body may have one.
 */
export function headerKeyOf(request: IncomingMessage): string | undefined {
  return basicUser(request.headers.authorization) ?? upToColon(firstOf(request, 'x-write-key'))
}

/** The write key in the query. Of several the first one that says anything counts. */
export function queryKeyOf(query: unknown): string | undefined {
  const { writeKey } = query as { readonly writeKey?: string | readonly string[] }
  return [writeKey].flat().find(key => key !== undefined && key !== '')
}

const basicPattern = /^basic[ \t]+([a-z0-9+/_-]+={0,2})[ \t]*$/i

function basicUser(authorization: string | undefined): string | undefined {
  const encoded = basicPattern.exec(authorization ?? '')?.[1]
  return encoded === undefined ? undefined : upToColon(Buffer.from(encoded, 'base64').toString())
}

function upToColon(text: string | undefined): string | undefined {
  const key = text?.split(':', 1)[0]
  return key === '' ? undefined : key
}

/** Node joins fields of one name with `, `, which may as well stand in a value. */
function firstOf(request: IncomingMessage, name: string): string | undefined {
  const joined = request.headers[name]
  return typeof joined === 'string' && joined.includes(', ') ? request.headersDistinct[name]?.[0] : (joined as string)
}
