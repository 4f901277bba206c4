import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a page of another origin made the browser send the request. Browsers send Sec-Fetch-Site
 * only over TLS and to localhost, so without this header, the function compares Origin with Host.
 */
export function isOfOtherOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
}
