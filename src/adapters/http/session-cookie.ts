import type { IncomingHttpHeaders } from 'node:http'
import { sessionLifetime } from '../../core/operator/signed-session-tokens.ts'

/**
 * The name of the session cookie. It contains the port, because browsers share cookies between all
 * ports of a host. Otherwise two operator services on one host would overwrite each other's cookie.
 */
function nameFor({ host = '' }: IncomingHttpHeaders): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? 'hookline_session' : `hookline_session_${port}`
}

/**
 * Returns the token of the session cookie. If the request has two session cookies, another host of
 * the domain may have set one of them. The result is then empty, and matches no session.
 */
export function sessionTokenIn(headers: IncomingHttpHeaders): string | undefined {
  const { cookie = '' } = headers
  const pattern = new RegExp(`(?:^|;)[ \\t]*${nameFor(headers)}=([^;]*)`, 'g')
  const [token, ...others] = [...cookie.matchAll(pattern)].map(([, value = '']) => value.trim())
  return others.length > 0 ? '' : token
}

/** The headers that set the session cookie. It has the attribute Secure if the browser uses TLS. */
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

const isSecure = ({ origin, 'x-forwarded-proto': forwarded }: IncomingHttpHeaders): boolean =>
  origin?.startsWith('https://') === true || String(forwarded).split(',')[0]?.trim() === 'https'
