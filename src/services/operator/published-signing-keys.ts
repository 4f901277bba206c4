import type { Clock } from '../../core/ports.ts'
import type { Destination } from '../../core/settings/settings.ts'
import {
  type PublicSigningKey,
  type PublishedKeys,
  parseSigningKey,
  publicKeyOf,
} from '../../core/signing/ed25519-signing-key.ts'
import { nextIteration } from '../../core/sleep-and-yield.ts'

interface Deps {
  readonly destinations: () => ReadonlyMap<string, Pick<Destination, 'signingKeys'>>
  readonly clock: Pick<Clock, 'soon'>
}

/**
 * Computes at most one public key per tick, to leave time for other work of the event loop. The
 * result must not show which destinations exist: it has no destination ids, and is the same for an
 * unknown id and a destination without keys.
 */
export function createPublishedKeys({ destinations, clock }: Deps): PublishedKeys {
  let known = new Map<string, PublicSigningKey | undefined>()
  let listed: ReturnType<Deps['destinations']> | undefined
  /** The result for all destinations; `undefined` until a call needs it. */
  let all: ReturnType<PublishedKeys> | undefined

  /** Removes the computed keys that the configuration no longer has. */
  function follow(current: ReturnType<Deps['destinations']>): void {
    if (current === listed) return
    const texts = new Set([...current.values()].flatMap(textsOf))
    known = new Map([...known].filter(([text]) => texts.has(text)))
    listed = current
    all = undefined
  }

  async function keyOf(text: string): Promise<PublicSigningKey | undefined> {
    if (!known.has(text)) await nextIteration(clock)
    if (!known.has(text)) {
      const key = parseSigningKey(text)
      known.set(text, key && publicKeyOf(key))
    }
    return known.get(text)
  }

  async function keysOf(selected: Parameters<typeof textsOf>[0][]): ReturnType<PublishedKeys> {
    const keys: PublicSigningKey[] = []
    for (const text of new Set(selected.flatMap(textsOf))) {
      const key = known.get(text) ?? (await keyOf(text))
      if (key !== undefined) keys.push(key)
    }
    return { keys }
  }

  return async destination => {
    const current = destinations()
    follow(current)
    if (destination !== undefined) return keysOf([current.get(destination)])
    all ??= keysOf([...current.values()])
    return all
  }
}

const textsOf = (destination: Pick<Destination, 'signingKeys'> | undefined): readonly string[] =>
  (destination?.signingKeys ?? []).map(key => key.reveal())
