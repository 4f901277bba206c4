import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { classifyAddress, explainForbidden, parseAllow, portAllowed } from '../../core/network/address.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import type { Resolve } from './dns.ts'

/** The target may not be dialled; nothing was sent. The message names the address or port, and the setting. */
export class ForbiddenTarget extends Error {
  readonly code: 'ERR_FORBIDDEN_ADDRESS' | 'ERR_FORBIDDEN_PORT'

  constructor(code: ForbiddenTarget['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** A name could not be resolved; `code` is the resolver's. */
export class UnresolvedName extends Error {
  readonly code: string

  constructor(name: string, cause: unknown) {
    super(`name ${name} could not be resolved: ${(cause as Error).message}`, { cause })
    this.code = String((cause as NodeJS.ErrnoException).code ?? 'ENOTFOUND')
  }
}

/** One state of `network`, ready for use by any HTTP client. */
export interface DialPolicy {
  /** What `lookup` never sees: the port, and a host that is an address already. */
  refuse(host: string, port: number): ForbiddenTarget | undefined
  /** For net.connect and tls.connect: the addresses that it hands out are the ones that it has checked. */
  readonly connect: {
    readonly lookup: LookupFunction
    readonly autoSelectFamily: true
    readonly autoSelectFamilyAttemptTimeout: number
    readonly secureContext: SecureContext
    readonly rejectUnauthorized: true
  }
}

/**
 * How long one of several addresses may take to connect before Node gives it up for the next one. A far one needs 300 ms, but Node
 * looks at its timers before it looks at its sockets: an address that has connected while the event loop was busy, with handshakes
 * for example, is given up too. Less than half a call's deadline, so that the next address has time.
 */
const attemptTimeoutMs = 2_000

/** Throws a RangeError when an entry of `allow` is no CIDR block. What is no certificate in `ca` adds nothing to the trust. */
export function createDialPolicy(network: NetworkSettings, resolve: Resolve): DialPolicy {
  const allow = parseAllow(network.allow)

  function refuseAddress(address: string, host: string): ForbiddenTarget | undefined {
    const verdict = classifyAddress(address, allow)
    if (verdict.kind === 'allowed') return undefined
    const named = address === host ? '' : `${host}: `
    return new ForbiddenTarget('ERR_FORBIDDEN_ADDRESS', `${named}${explainForbidden(address, verdict)}`)
  }

  function checked(host: string, addresses: readonly LookupAddress[]): LookupAddress[] {
    // An empty list from a lookup would end the process: Node throws where nothing can catch it.
    if (addresses.length === 0) throw new UnresolvedName(host, new Error('it has no addresses'))
    // One bad answer spoils all: a name that points inside as well is misconfigured or hostile.
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
        const open = network.ports?.join(', ') ?? '80, 443 and any from 1024'
        return new ForbiddenTarget('ERR_FORBIDDEN_PORT', `port ${port} is refused: network.ports allows ${open}`)
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

/** The public roots, and `ca` beside them. Made once: to parse all roots takes some 30 ms. */
function trust(ca: string | undefined): SecureContext {
  const minVersion = 'TLSv1.2'
  return createSecureContext(
    ca === undefined ? { minVersion } : { minVersion, ca: [...getCACertificates('default'), ca] },
  )
}

/** The connections that were dialled under one state of the settings. */
export interface Generation {
  /** No connection is kept from now on, idle ones are dropped. */
  retire(): void
}

export interface Generations<G extends Generation> {
  /** The one of the present settings. These are compared at each call: a change retires what was made before. */
  current(): G
  /** Retires the present one, and each that is made later at once. */
  close(): void
}

export function createGenerations<G extends Generation>(
  { network, resolve }: { readonly network: () => NetworkSettings; readonly resolve: Resolve },
  make: (policy: DialPolicy) => G,
): Generations<G> {
  let settings = network()
  let generation = make(createDialPolicy(settings, resolve))
  let isClosed = false

  return {
    current() {
      const latest = network()
      if (latest === settings) return generation
      if (!isDeepStrictEqual(latest, settings)) {
        const next = make(createDialPolicy(latest, resolve))
        generation.retire()
        generation = next
        if (isClosed) next.retire()
      }
      settings = latest
      return generation
    },
    close() {
      isClosed = true
      generation.retire()
    },
  }
}
