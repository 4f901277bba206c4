import type { IncomingHttpHeaders } from 'node:http'
import { sessionLifetime } from '../../core/operator/operator-sessions.ts'

/**
 * The name of the session cookie: `hookline_session`, followed by `_` and the port if the header
 * Host has one. Browsers send a cookie to all ports of a host, so the name separates the sessions of
 * listeners with different ports.
 */
function nameFor({ host = '' }: IncomingHttpHeaders): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? 'hookline_session' : `hookline_session_${port}`
}

/**
 * The token in the session cookie of a request; `undefined` without the cookie. If there are two
 * session cookies, another host of the domain may have set one of them. The token is then empty, so
 * it matches no session.
 */
export function sessionTokenIn(headers: IncomingHttpHeaders): string | undefined {
  const { cookie = '' } = headers
  const pattern = new RegExp(`(?:^|;)[ \\t]*${nameFor(headers)}=([^;]*)`, 'g')
  const [token, ...others] = [...cookie.matchAll(pattern)].map(([, value = '']) => value.trim())
  return others.length > 0 ? '' : token
}

/**
 * The headers of a response that set the session cookie. Scripts cannot read the cookie, and
 * browsers send it only with requests from pages of the same site. If the browser uses TLS, the
 * cookie has the attribute Secure, so it is never sent without TLS.
 */
export const setCookie = (token: string, headers: IncomingHttpHeaders) => ({
  'set-cookie': cookieOf(nameFor(headers), token, sessionLifetime / 1_000, isSecure(headers)),
})

/** The headers of a response that delete the session cookie. */
export const deleteCookie = (headers: IncomingHttpHeaders) => ({
  'set-cookie': cookieOf(nameFor(headers), '', 0, false),
})

function cookieOf(name: string, token: string, maxAge: number, secure: boolean): string {
  return `${name}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/**
 * Whether the browser uses TLS. This is known if the Origin of its page has the scheme https, or if
 * a proxy in front of the listener sends X-Forwarded-Proto with this scheme.
 */
const isSecure = ({ origin, 'x-forwarded-proto': forwarded }: IncomingHttpHeaders): boolean =>
  origin?.startsWith('https://') === true || String(forwarded).split(',')[0]?.trim() === 'https'

/**
 * Whether a browser sent the request for a page of another origin, according to Sec-Fetch-Site.
 * Browsers send this header only over TLS and to localhost. Without it, the host in Origin is
 * compared with the Host header.
 */
export function isOfOtherOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
}
