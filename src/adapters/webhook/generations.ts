import { isDeepStrictEqual } from 'node:util'
import type { NetworkSettings } from '../../core/settings.ts'
import { createDialPolicy, type DialPolicy } from './dial.ts'
import type { Resolve } from './resolve.ts'

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
