import type { OAuth2Settings } from '../settings/settings.ts'
import type { WebhookCall } from '../webhook-ports.ts'

/** Encodes a text as `application/x-www-form-urlencoded` (RFC 6749 appendix B). */
const formEncoded = (value: string): string => new URLSearchParams({ '': value }).toString().slice(1)

/**
 * The token request of the client credentials grant (RFC 6749 4.4). It contains the client secret:
 * do not log it.
 */
export function tokenRequest(settings: OAuth2Settings, userAgent: string): WebhookCall {
  const { tokenUrl, clientId, clientSecret, clientAuthentication, scopes } = settings
  const secret = clientSecret.reveal()
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scopes.length > 0) form.set('scope', scopes.join(' '))
  const headers: Record<string, string> = {
    'User-Agent': `${userAgent}/1.0`,
    'Content-Type': 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    'Accept-Encoding': 'identity',
  }
  if (clientAuthentication === 'basic') {
    // RFC 6749 2.3.1 encodes id and secret before Base64, because the id may contain a colon.
    const credentials = `${formEncoded(clientId)}:${formEncoded(secret)}`
    headers['Authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  } else {
    form.set('client_id', clientId)
    form.set('client_secret', secret)
  }
  return { url: tokenUrl, headers, body: Buffer.from(form.toString()) }
}
