import { maskedUrl } from '../config-objects/mask.ts'
import { mask } from '../secret.ts'
import type { Destination, Webhook } from '../settings/settings.ts'
import type { WebhookCall } from '../webhook-ports.ts'

/**
 * A request with masked secrets. The secrets are the configured header values, the access token and
 * the path of the URL.
 */
export type MaskedRequest = Pick<WebhookCall, 'url' | 'headers'>

/** Masks the secrets of the request to a webhook, and the values of the headers in `more`. */
export function maskedRequest(
  { url, headers }: WebhookCall,
  { webhook, auth }: { readonly webhook: Pick<Webhook, 'headers'> } & Pick<Destination, 'auth'>,
  more: readonly string[] = [],
): MaskedRequest {
  const secret = new Set([...Object.keys(webhook.headers), ...more])
  const shown = Object.entries(headers).map(([name, value]) => [name, secret.has(name) ? mask : value])
  // `headers` does not contain the access token yet: the transport adds the token when it sends the
  // request.
  const token = auth?.oauth2 === undefined ? {} : { Authorization: mask }
  return { url: maskedUrl(url), headers: { ...Object.fromEntries(shown), ...token } }
}
