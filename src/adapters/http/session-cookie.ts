import type { IncomingHttpHeaders } from 'node:http'
import { sessionLifetime } from '../../core/operator/operator-sessions.ts'

const name = 'hookline_session'
const pattern = new RegExp(`(?:^|;)[ \\t]*${name}=([^;]*)`, 'g')

/**
 * The token in the session cookie of a request; `undefined` without the cookie. If there are two
 * session cookies, another host of the domain may have set one of them. The token is then empty, so
 * it matches no session.
 */
export function sessionTokenIn({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const [token, ...others] = [...cookie.matchAll(pattern)].map(([, value = '']) => value.trim())
  return others.length > 0 ? '' : token
}

/**
 * The headers of a response that set the session cookie. Scripts cannot read the cookie, and
 * browsers send it only with requests from pages of the same site. If the browser uses TLS, the
 * cookie has the attribute Secure, so it is never sent without TLS.
 */
export const setCookie = (token: string, headers: IncomingHttpHeaders) => ({
  'set-cookie': cookieOf(token, sessionLifetime / 1_000, isSecure(headers)),
})

/** The headers of a response that delete the session cookie. */
export const deleteCookie = { 'set-cookie': cookieOf('', 0, false) } as const

function cookieOf(token: string, maxAge: number, secure: boolean): string {
  return `${name}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/**
 * Whether the browser uses TLS, according to the Origin of its page or to X-Forwarded-Proto of the
 * proxy in front of the listener.
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
