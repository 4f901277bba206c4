import { isDeepStrictEqual } from 'node:util'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { type ConnectionRules, createConnectionRules } from './connection-rules.ts'
import type { Resolve } from './resolver.ts'

/** The connections that were opened under one version of the settings. */
export interface PoolGeneration {
  /** Closes idle connections and keeps no connection from now on. */
  retire(): void
}

export interface PoolGenerations<G extends PoolGeneration> {
  /**
   * The generation for the current settings. Each call compares the settings; a change retires the
   * previous generation.
   */
  current(): G
  /** Retires the current generation, and immediately retires each one that is created later. */
  close(): void
}

export function createPoolGenerations<G extends PoolGeneration>(
  { network, resolve }: { readonly network: () => NetworkSettings; readonly resolve: Resolve },
  make: (rules: ConnectionRules) => G,
): PoolGenerations<G> {
  let settings = network()
  let generation = make(createConnectionRules(settings, resolve))
  let isClosed = false

  return {
    current() {
      const latest = network()
      if (latest === settings) return generation
      if (!isDeepStrictEqual(latest, settings)) {
        const next = make(createConnectionRules(latest, resolve))
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
