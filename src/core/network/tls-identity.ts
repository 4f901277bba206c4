import { createHash } from 'node:crypto'
import type { Secret } from '../secret.ts'

/** How Hookline authenticates to a destination's endpoints, and which endpoints it trusts. */
export interface TlsIdentity {
  /**
   * A digest of the other fields, also of the private key: do not log it. Only requests with the
   * same digest share connections.
   */
  readonly id: string
  /** The client certificate as PEM text, possibly with its chain. */
  readonly cert: string | undefined
  /** The private key of the certificate, PEM text. */
  readonly key: Secret | undefined
  /**
   * The CA certificates to trust instead of all others, as PEM text. If `undefined`, Hookline
   * trusts the public CAs and those in `network.caFile`.
   */
  readonly ca: string | undefined
}

export function tlsIdentityOf({ cert, key, ca }: Omit<TlsIdentity, 'id'>): TlsIdentity {
  const id = createHash('sha256')
    .update(JSON.stringify([cert, key?.reveal(), ca]))
    .digest('base64url')
  return { id, cert, key, ca }
}
