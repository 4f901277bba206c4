import { constants } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import tls, { createSecureContext, getCACertificates, type SecureContext, type SecureContextOptions } from 'node:tls'
import { classifyAddress, explainForbidden, parseAllow, portAllowed } from '../../core/network/allowed-addresses.ts'
import { createNoProxy } from '../../core/network/no-proxy.ts'
import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { NetworkSettings, ProxySettings } from '../../core/settings/settings.ts'
import type { Resolve } from './dns-resolver.ts'
import { createProxyTunnels, type ProxyTunnels } from './proxy-tunnel.ts'

/**
 * The settings forbid a connection to this target; nothing was sent. The message names the setting.
 */
export class ForbiddenTarget extends Error {
  readonly code: 'ERR_FORBIDDEN_ADDRESS' | 'ERR_FORBIDDEN_PORT'

  constructor(code: ForbiddenTarget['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** A host name could not be resolved. `code` is the resolver's error code. */
export class UnresolvedName extends Error {
  readonly code: string

  constructor(name: string, cause: unknown) {
    super(`host name ${name} could not be resolved: ${(cause as Error).message}`, { cause })
    this.code = String((cause as NodeJS.ErrnoException).code ?? 'ENOTFOUND')
  }
}

/** OpenSSL refuses the client certificate or its key. `code` is OpenSSL's error code. */
export class UnusableIdentity extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super(`the client certificate cannot be used: ${(cause as Error).message}`, { cause })
    this.code = String((cause as NodeJS.ErrnoException).code ?? 'ERR_SSL')
  }
}

/**
 * The rules for connections (addresses, ports, proxy, TLS) that follow from the `network` settings.
 * A change of these settings needs new rules.
 */
export interface ConnectionRules {
  /**
   * Checks the port, and the host if it is an IP address, for which Node does not call `lookup`.
   * Returns the error; `undefined` when both are allowed.
   */
  refuse(host: string, port: number): ForbiddenTarget | undefined
  /** Options for net.connect and tls.connect. `lookup` returns only allowed addresses. */
  readonly connect: {
    readonly lookup: LookupFunction
    readonly autoSelectFamily: true
    readonly autoSelectFamilyAttemptTimeout: number
    readonly secureContext: SecureContext
    readonly rejectUnauthorized: true
  }
  /** The proxy's tunnels to the host; `undefined` for a direct connection. */
  tunnelsFor(host: string): ProxyTunnels | undefined
  /**
   * The same rules with the client certificate and the trusted CAs of this identity.
   * @throws UnusableIdentity
   */
  withIdentity(identity: TlsIdentity): ConnectionRules
}

/**
 * After this time, the next address is tried. A shorter time could abandon an address that
 * connected while the event loop was busy. Two attempts must fit into `delivery.timeout` (at most 5
 * s).
 */
const attemptTimeoutMs = 2_000

/**
 * Creates the connection rules.
 * @throws RangeError when an entry of `allow` or `noProxy` is invalid
 */
export function createConnectionRules(network: NetworkSettings, resolve: Resolve): ConnectionRules {
  const allow = parseAllow(network.allow)

  function refuseAddress(address: string, host: string): ForbiddenTarget | undefined {
    const verdict = classifyAddress(address, allow)
    if (verdict.kind === 'allowed') return undefined
    const named = address === host ? '' : `${host}: `
    return new ForbiddenTarget('ERR_FORBIDDEN_ADDRESS', `${named}${explainForbidden(address, verdict)}`)
  }

  function checked(host: string, addresses: readonly LookupAddress[]): LookupAddress[] {
    // One forbidden address is enough to refuse the name: a name with internal and public addresses
    // is misconfigured or hostile.
    for (const { address } of nonEmpty(host, addresses)) {
      const refusal = refuseAddress(address, host)
      if (refusal !== undefined) throw refusal
    }
    return [...addresses]
  }

  const lookup = lookupOf(resolve, checked)
  const secureContext = contextOf(network)
  const tunnels = network.proxy && createTunnels(network.proxy, { resolve, lookup, secureContext })
  const isDirect = createNoProxy(network.proxy?.noProxy ?? [])

  const rules: ConnectionRules = {
    refuse(host, port) {
      if (!portAllowed(port, network.ports)) {
        const open = network.ports?.join(', ') ?? '80, 443 and any port from 1024'
        return new ForbiddenTarget(
          'ERR_FORBIDDEN_PORT',
          `port ${port} is not allowed (allowed: ${open}; see network.ports)`,
        )
      }
      return isIP(host) === 0 ? undefined : refuseAddress(host, host)
    },
    connect: {
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
      secureContext,
      rejectUnauthorized: true,
    },
    tunnelsFor: host => (isDirect(host) ? undefined : tunnels),
    withIdentity: identity => ({
      ...rules,
      connect: { ...rules.connect, secureContext: contextOfIdentity(network, identity) },
    }),
  }
  return rules
}

/**
 * Creates a lookup function for Node. `check` returns the allowed addresses; if it throws, the
 * connection fails with this error.
 */
function lookupOf(
  resolve: Resolve,
  check: (host: string, addresses: readonly LookupAddress[]) => LookupAddress[],
): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host)
      .catch((error: unknown) => {
        throw new UnresolvedName(host, error)
      })
      .then(addresses => check(host, addresses))
      .then(
        addresses => {
          if (all === true) callback(null, addresses)
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
        },
        (error: Error) => callback(error, all === true ? [] : ''),
      )
  }
}

function createTunnels(
  proxy: ProxySettings,
  deps: { readonly resolve: Resolve; readonly lookup: LookupFunction; readonly secureContext: SecureContext },
): ProxyTunnels {
  const lookupProxy = lookupOf(deps.resolve, nonEmpty)
  return createProxyTunnels({ proxy, lookupProxy, attemptTimeout: attemptTimeoutMs, ...deps })
}

function nonEmpty(host: string, addresses: readonly LookupAddress[]): LookupAddress[] {
  // On an empty list, Node would throw an error that no code can catch.
  if (addresses.length === 0) throw new UnresolvedName(host, new Error('the name has no addresses'))
  return [...addresses]
}

function contextOfIdentity(network: NetworkSettings, identity: TlsIdentity): SecureContext {
  try {
    // Check the certificate without the CAs, which takes 1 ms. Otherwise each attempt with an
    // invalid certificate would take 30 ms, because OpenSSL parses the CAs before the certificate.
    createSecureContext(certificateOf(identity))
    return contextOf(network, identity)
  } catch (error) {
    throw new UnusableIdentity(error)
  }
}

/**
 * Creates the TLS context. It must be cached, because to parse all public CAs takes about 30 ms.
 */
function contextOf(network: NetworkSettings, identity?: TlsIdentity): SecureContext {
  const additional = network.ca === undefined ? undefined : [...getCACertificates('default'), network.ca]
  const ca = identity?.ca ?? additional
  return createSecureContext({
    minVersion: 'TLSv1.2',
    // Without a client certificate, renegotiation is off. With one, some servers, for example IIS,
    // need a renegotiation to request the certificate.
    ...(identity?.cert === undefined && { secureOptions: constants.SSL_OP_NO_RENEGOTIATION }),
    // DHE is off, because a server could choose a prime of 10,000 bits, which blocks the event loop
    // for up to 0.4 s in each handshake.
    ciphers: `${tls.DEFAULT_CIPHERS}:!kDHE`,
    ...(ca !== undefined && { ca }),
    ...certificateOf(identity),
  })
}

const certificateOf = ({ cert, key }: Partial<TlsIdentity> = {}): SecureContextOptions =>
  cert !== undefined && key !== undefined ? { cert, key: key.reveal() } : {}
