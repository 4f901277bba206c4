import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { isSameValue } from '../../core/settings/settings-change.ts'
import { type ConnectionRules, createConnectionRules } from './connection-rules.ts'
import type { Resolve } from './dns-resolver.ts'
import { maxAgeMs } from './http-client-limits.ts'
import { ConnectionLimit } from './open-connection-limit.ts'

/** The connections for one value of the network settings and one TLS identity. */
export interface PoolGeneration {
  /** Closes idle connections, and keeps none from now on. */
  retire(): void
}

export interface PoolGenerations<G extends PoolGeneration> {
  /**
   * Returns the generation for the current settings and this identity. After a change of the
   * settings, first retires all generations.
   * @throws UnusableIdentity
   */
  current(identity: TlsIdentity | undefined): G
  /** Retires all generations, also those that `current` creates later. */
  close(): void
}

interface Deps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly clock: Pick<Clock, 'monotonic'>
}

interface Identified<G> {
  readonly generation: G
  /** Time of the last request, in monotonic milliseconds. */
  usedAt: number
}

/**
 * Creates a generation of connections for each TLS identity, so that requests with different client
 * certificates or trusted CAs never share a connection or a TLS session.
 */
export function createPoolGenerations<G extends PoolGeneration>(
  { network, resolve, clock }: Deps,
  make: (rules: ConnectionRules, connectionLimit: ConnectionLimit) => G,
): PoolGenerations<G> {
  const connectionLimit = new ConnectionLimit()
  const identified = new Map<string, Identified<G>>()
  let settings = network()
  let rules = createConnectionRules(settings, resolve)
  let generation = make(rules, connectionLimit)
  let isClosed = false
  let sweptAt = clock.monotonic()

  function create(own: ConnectionRules): G {
    const created = make(own, connectionLimit)
    if (isClosed) created.retire()
    return created
  }

  function retireAll(): void {
    generation.retire()
    for (const each of identified.values()) each.generation.retire()
    identified.clear()
  }

  function ofIdentity(identity: TlsIdentity): G {
    const now = clock.monotonic()
    const known = identified.get(identity.id)
    if (known !== undefined) {
      known.usedAt = now
      return known.generation
    }
    const created = create(rules.withIdentity(identity))
    sweep(now)
    identified.set(identity.id, { generation: created, usedAt: now })
    return created
  }

  /** Retires and forgets the generations of identities that had no request for five minutes. */
  function sweep(now: number): void {
    if (now - sweptAt < maxAgeMs) return
    sweptAt = now
    for (const [id, { generation: unused, usedAt }] of identified) {
      if (now - usedAt < maxAgeMs) continue
      unused.retire()
      identified.delete(id)
    }
  }

  return {
    current(identity) {
      const latest = network()
      if (latest !== settings) {
        const isChanged = !isSameValue(latest, settings)
        settings = latest
        if (isChanged) {
          rules = createConnectionRules(latest, resolve)
          retireAll()
          generation = create(rules)
        }
      }
      return identity === undefined ? generation : ofIdentity(identity)
    },
    close() {
      isClosed = true
      retireAll()
    },
  }
}
