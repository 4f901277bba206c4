import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { classifyAddress, explainForbidden, parseAllow, portAllowed } from '../../core/network/address.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import type { Resolve } from './resolver.ts'

/**
 * The settings do not allow a connection to this target; nothing was sent. The message names the
 * address or port and the setting.
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

/** The connection rules of one version of the `network` settings, for use by any HTTP client. */
export interface ConnectionRules {
  /**
   * Checks the port, and the host if it is an IP address: `lookup` sees neither. Returns the error;
   * `undefined` when both are allowed.
   */
  refuse(host: string, port: number): ForbiddenTarget | undefined
  /**
   * Options for net.connect and tls.connect. `lookup` returns only addresses that it has checked.
   */
  readonly connect: {
    readonly lookup: LookupFunction
    readonly autoSelectFamily: true
    readonly autoSelectFamilyAttemptTimeout: number
    readonly secureContext: SecureContext
    readonly rejectUnauthorized: true
  }
}

/**
 * How long Node waits for one of several addresses to connect before it tries the next one. A
 * distant host needs 300 ms. Node runs timers before it reads sockets, so a shorter limit would
 * abandon an address that connected while the event loop was busy, for example with TLS handshakes.
 * The limit is less than half of the maximum `delivery.timeout`, so that a second address has time.
 */
const attemptTimeoutMs = 2_000

/**
 * Creates the connection rules. Text in `ca` that is not a certificate adds nothing to the trusted
 * roots.
 * @throws RangeError when an entry of `allow` is not a CIDR block
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
    // On an empty list Node would throw where no code can catch the error, which ends the process.
    if (addresses.length === 0) throw new UnresolvedName(host, new Error('the name has no addresses'))
    // One forbidden address forbids the name. A name that also points to an internal address is
    // misconfigured or hostile.
    for (const { address } of addresses) {
      const refusal = refuseAddress(address, host)
      if (refusal !== undefined) throw refusal
    }
    return [...addresses]
  }

  const lookup: LookupFunction = (host, { all }, callback) => {
    resolve(host)
      .catch((error: unknown) => {
        throw new UnresolvedName(host, error)
      })
      .then(addresses => checked(host, addresses))
      .then(
        addresses => {
          if (all === true) callback(null, addresses)
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
        },
        (error: Error) => callback(error, all === true ? [] : ''),
      )
  }

  return {
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
      secureContext: trust(network.ca),
      rejectUnauthorized: true,
    },
  }
}

/**
 * Node's default root certificates and `ca`. Created once for each version of the settings, because
 * parsing all roots takes about 30 ms.
 */
function trust(ca: string | undefined): SecureContext {
  const minVersion = 'TLSv1.2'
  return createSecureContext(
    ca === undefined ? { minVersion } : { minVersion, ca: [...getCACertificates('default'), ca] },
  )
}
