import { assertNever } from '../../core/assert-never.ts'
import type { DeliverySettings } from '../../core/settings/settings.ts'
import type { WebhookTransport } from '../../core/webhook-ports.ts'
import type { TransportDeps } from './transport-for-any-http-client.ts'

/**
 * Creates the transport that `delivery.transport` names. Loads only the HTTP client of this
 * transport, because each HTTP client takes about 90 ms to load.
 */
export async function createChosenTransport(
  name: DeliverySettings['transport'],
  deps: TransportDeps,
): Promise<WebhookTransport> {
  switch (name) {
    case 'got':
      return (await import('./got.ts')).createGotTransport(deps)
    case 'undici':
      return (await import('./undici.ts')).createUndiciTransport(deps)
    default:
      return assertNever(name)
  }
}
