import { createTokenClient } from '../../adapters/webhook/token-client.ts'
import { tokenLimits } from '../../core/oauth2/token-timing-constants.ts'
import type { TokenClient } from '../../core/webhook-ports.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/** Starts a client that gets the OAuth2 access tokens of destinations. */
export async function startTokenClient(
  { live, lifecycle, clock }: Pick<SharedDependencies, 'live' | 'lifecycle' | 'clock'>,
  name: string,
): Promise<TokenClient> {
  const client = createTokenClient({ network: () => live().network, timeout: tokenLimits.requestTimeout, clock })
  await lifecycle.start({ name, stop: async () => client.close() })
  return client
}
