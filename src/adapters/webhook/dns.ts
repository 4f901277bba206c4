import dns, { type LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { Cancel, Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'

/** Every address of a name; rejects with an Error that has a `code` (`ENOTFOUND`, `ETIMEOUT`, …). */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>

/** Where addresses come from. Names come from the configuration only, so what is kept per name is bounded. */
export interface NameSources {
  hostsFile(): Promise<string>
  /** Asks the name servers over sockets of our own: holds no thread while it waits. */
  query(name: string, family: 4 | 6): Promise<readonly string[]>
  /** Asks the operating system, which holds a thread of the process's few until it answers. */
  system(name: string): Promise<readonly LookupAddress[]>
  cancel(): void
}

export interface Resolver {
  readonly resolve: Resolve
  /** Gives up questions under way. */
  close(): void
}

/** How long an answer is good for: a burst of new connections asks once, a change in the DNS shows soon. */
const keptMs = 5_000
/** RFC 8305 §3: how long the slower family may hold up the faster one. */
const graceMs = durationMs(50)
const queryTimeoutMs = 1_000

/** The name servers did not answer in time, or could not: so would the operating system, on a thread. */
const hopeless = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECANCELLED'])
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

export function systemSources(): NameSources {
  const resolver = new dns.promises.Resolver({ timeout: queryTimeoutMs, tries: 2 })
  return {
    hostsFile: () => readFile('/etc/hosts', 'utf8').catch(() => ''),
    query: (name, family) => (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)),
    system: name => dns.promises.lookup(name, { all: true }),
    cancel: () => resolver.cancel(),
  }
}

/**
 * Names → addresses, so that a hung name server of one customer holds up nobody else: see
 * docs/decisions/0003-dns-resolution.md.
 */
export function createResolver({ clock, sources }: { clock: Clock; sources: NameSources }): Resolver {
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<unknown> }>()

  /** One question at a time per key; an answer is kept for a while, a failure not at all. */
  function once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    if (known !== undefined && clock.monotonic() < known.until) return known.answer as Promise<T>
    const answer = ask()
    kept.set(key, { until: Number.POSITIVE_INFINITY, answer })
    answer.then(
      () => kept.set(key, { until: clock.monotonic() + keptMs, answer }),
      () => kept.delete(key),
    )
    return answer
  }

  async function find(name: string): Promise<readonly LookupAddress[]> {
    const listed = listedIn(await once('', sources.hostsFile), name)
    if (listed.length > 0) return listed
    // A name without a dot means something only with the system's search list.
    if (!name.includes('.')) return sources.system(name)
    try {
      return await queryBoth(name)
    } catch (error) {
      if (hopeless.has(codeOf(error))) throw error
      return sources.system(name)
    }
  }

  function queryBoth(name: string): Promise<readonly LookupAddress[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>()
    const found: LookupAddress[] = []
    const errors: Error[] = []
    let unanswered = 2
    let endGrace: Cancel | undefined
    const finish = () => {
      endGrace?.()
      if (found.length > 0) resolve(found.toSorted((a, b) => a.family - b.family))
      else reject(errors.find(error => hopeless.has(codeOf(error))) ?? errors[0] ?? notFound(name))
    }
    const ended = () => {
      unanswered--
      if (unanswered === 0) finish()
      else if (found.length > 0) endGrace = clock.after(graceMs, finish)
    }
    for (const family of [4, 6] as const) {
      sources.query(name, family).then(
        addresses => {
          found.push(...addresses.map(address => ({ address, family })))
          ended()
        },
        (error: Error) => {
          errors.push(error)
          ended()
        },
      )
    }
    return promise
  }

  return {
    resolve(written) {
      const name = written.toLowerCase().replace(/\.$/, '')
      // RFC 6761: these two never leave the machine.
      if (name === 'localhost' || name.endsWith('.localhost')) return Promise.resolve(loopback)
      if (name === 'invalid' || name.endsWith('.invalid')) return Promise.reject(notFound(name))
      return once(name, () => find(name))
    },
    close: () => sources.cancel(),
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
const notFound = (name: string): Error => Object.assign(new Error(`${name} ENOTFOUND`), { code: 'ENOTFOUND' })

/** The addresses that a hosts file gives a name. */
function listedIn(text: string, name: string): readonly LookupAddress[] {
  return text
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(name))
    .map(([address = '']) => ({ address, family: address.includes(':') ? 6 : 4 }))
}
