import { createHash } from 'node:crypto'
import type { Secret } from '../secret.ts'

/** How Hookline authenticates to the endpoints of a destination, and which endpoints it trusts. */
export interface TlsIdentity {
  /**
   * Equal for equal contents. Connections are shared only by requests with the same id. It is a
   * digest that includes the private key, so do not log it.
   */
  readonly id: string
  /** The client certificate, PEM text, perhaps with its chain. `undefined`: no client certificate. */
  readonly cert: string | undefined
  /** The private key of the certificate, PEM text. */
  readonly key: Secret | undefined
  /** PEM text of the CA certificates to trust instead of all others. `undefined`: no difference. */
  readonly ca: string | undefined
}

export function tlsIdentityOf({ cert, key, ca }: Omit<TlsIdentity, 'id'>): TlsIdentity {
  const id = createHash('sha256')
    .update(JSON.stringify([cert, key?.reveal(), ca]))
    .digest('base64url')
  return { id, cert, key, ca }
}
