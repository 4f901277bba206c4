import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { isSameValue } from '../../core/settings/settings-change.ts'
import { type ConnectionRules, createConnectionRules } from './connection-rules.ts'
import { maxAgeMs } from './http-client-limits.ts'
import type { Resolve } from './resolver.ts'

/**
 * A generation: the connections for one value of the network settings and one TLS identity. A
 * change of the settings begins new generations.
 */
export interface PoolGeneration {
  /** Closes idle connections and keeps no connection from now on. */
  retire(): void
}

/** The number of open connections of all generations. */
export interface OpenConnections {
  count: number
}

export interface PoolGenerations<G extends PoolGeneration> {
  /**
   * The generation for the current settings and this identity. If the settings have changed since
   * the previous call, this call first retires all generations.
   * @throws UnusableIdentity
   */
  current(identity: TlsIdentity | undefined): G
  /**
   * Retires the current generations. If `current` creates a generation after this call, it is
   * retired immediately.
   */
  close(): void
}

interface Deps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly clock: Pick<Clock, 'monotonic'>
}

/** The connections for one TLS identity, with the time of their last use. */
interface Identified<G> {
  readonly generation: G
  /** Time of the last request, in monotonic milliseconds. */
  usedAt: number
}

/**
 * Creates a generation of connections for each TLS identity, so that requests with different client
 * certificates or trusted CAs never share a connection or a TLS session. A changed certificate is
 * another identity: its requests open new connections, and the idle ones of the old identity reach
 * their idle timeout.
 */
export function createPoolGenerations<G extends PoolGeneration>(
  { network, resolve, clock }: Deps,
  make: (rules: ConnectionRules, open: OpenConnections) => G,
): PoolGenerations<G> {
  const open: OpenConnections = { count: 0 }
  const identified = new Map<string, Identified<G>>()
  let settings = network()
  let rules = createConnectionRules(settings, resolve)
  let generation = make(rules, open)
  let isClosed = false
  let sweptAt = clock.monotonic()

  function create(own: ConnectionRules): G {
    const created = make(own, open)
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

  /**
   * Removes identities without a request for five minutes. Their idle connections have already
   * reached the idle timeout.
   */
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
