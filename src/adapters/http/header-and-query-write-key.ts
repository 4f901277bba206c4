import type { IncomingMessage } from 'node:http'

/**
 * The write key in the headers. Jitsu's libraries append a colon and a secret to the key in
 * `X-Write-Key`. This function keeps this suffix, because a key itself may contain a colon.
 */
export function headerKeyOf(request: IncomingMessage): string | undefined {
  return basicUser(request.headers.authorization) ?? (firstOf(request, 'x-write-key') || undefined)
}

/** The write key in the query: the first value that is not empty. */
export function queryKeyOf(query: unknown): string | undefined {
  const { writeKey } = query as { readonly writeKey?: string | readonly string[] }
  return [writeKey].flat().find(key => key !== undefined && key !== '')
}

const basicPattern = /^basic[ \t]+([a-z0-9+/_-]+={0,2})[ \t]*$/i

function basicUser(authorization: string | undefined): string | undefined {
  const encoded = basicPattern.exec(authorization ?? '')?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString().split(':', 1)[0] || undefined
}

/**
 * The first value of a header that may occur several times. Node joins the values with `, `, but a
 * single value may also contain `, `. Only `headersDistinct` has the separate values.
 */
function firstOf(request: IncomingMessage, name: string): string | undefined {
  const joined = request.headers[name]
  return typeof joined === 'string' && joined.includes(', ') ? request.headersDistinct[name]?.[0] : (joined as string)
}
