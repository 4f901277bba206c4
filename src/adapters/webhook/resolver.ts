import dns, { type LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { Cancel, Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'

/**
 * Resolves a host name to its addresses, at most 16 of each family. Rejects with an Error that has
 * a `code` (`ENOTFOUND`, `ETIMEOUT`, …).
 */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>

export interface NameSources {
  hostsFile(): Promise<string>
  /** Queries the name servers over c-ares sockets. It holds no thread while it waits. */
  query(name: string, family: 4 | 6): Promise<readonly string[]>
  /** Calls getaddrinfo, which holds one of the few libuv threads until it returns. */
  system(name: string): Promise<readonly LookupAddress[]>
  /**
   * Reads /etc/resolv.conf. If the file has changed, later queries go to the name servers in the
   * new file. It never rejects.
   */
  reload(): Promise<void>
  /**
   * Cancels queries in progress, including those to name servers that the last `reload` replaced.
   */
  cancel(): void
}

export interface Resolver {
  readonly resolve: Resolve
  /** Cancels queries in progress. */
  close(): void
}

/**
 * How long a result is cached: long enough for a burst of new connections to cause one query, and
 * short enough for a DNS change to take effect soon.
 */
const keptMs = 5_000
/**
 * Maximum number of addresses per family that are used. Each new connection checks all these
 * addresses, and a customer's name servers can return thousands. If the addresses do not respond, a
 * request has time to try two or three of them.
 */
const maxPerFamily = 16
/** How long to wait for the other address family when one family has addresses (RFC 8305 §3). */
const graceMs = durationMs(50)
const queryTimeoutMs = 1_000

/**
 * Error codes after which getaddrinfo is not tried: the name servers timed out or failed, or the
 * query was cancelled. getaddrinfo would query the same servers and hold a thread.
 */
const hopeless = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECANCELLED'])
/**
 * The key of the cache entry for the last reload. No host name equals this key, because of the
 * slash.
 */
const reloading = '/etc/resolv.conf'
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** The name sources of the operating system. `read` returns the text of a file. */
export function systemSources(read = (path: string) => readFile(path, 'utf8')): NameSources {
  // Node reads /etc/resolv.conf only when it creates a Resolver.
  const newResolver = () => new dns.promises.Resolver({ timeout: queryTimeoutMs, tries: 2 })
  let resolver = newResolver()
  /** The resolver before the last reload. It may still have queries in progress. */
  let previous: typeof resolver | undefined
  /** The text of /etc/resolv.conf at the last reload; `undefined` before the first one. */
  let loaded: string | undefined
  return {
    hostsFile: () => read('/etc/hosts').catch(() => ''),
    query: (name, family) => (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)),
    system: name => dns.promises.lookup(name, { all: true }),
    async reload() {
      const text = await read('/etc/resolv.conf').catch(() => loaded)
      if (text === loaded) return
      loaded = text
      previous?.cancel()
      previous = resolver
      resolver = newResolver()
    },
    cancel() {
      previous?.cancel()
      resolver.cancel()
    },
  }
}

/**
 * Creates a resolver in which an unresponsive name server of one customer does not delay other
 * names. See docs/decisions/0003-dns-resolution.md.
 */
export function createResolver({ clock, sources }: { clock: Clock; sources: NameSources }): Resolver {
  /**
   * The cache: results by host name, the hosts file with the key '', and the last reload of
   * /etc/resolv.conf with the key `reloading`. All names come from the configuration, so they are
   * few.
   */
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<unknown> }>()

  /**
   * Returns the result of `ask`. Concurrent callers with the same key share one call of `ask`.
   * Afterwards, the result of this call is cached for 5 s (`keptMs`); an error is not cached.
   */
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
    // A name without a dot is completed with the search list of the operating system, which only
    // getaddrinfo uses.
    if (!name.includes('.')) return sources.system(name)
    try {
      return await queryBoth(name)
    } catch (error) {
      // Reload /etc/resolv.conf, because the name servers may have been replaced. Only later
      // queries ask the new ones.
      void once(reloading, sources.reload)
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
      // Names in the domains `localhost` and `invalid` are never sent to a name server (RFC 6761).
      if (isLoopbackName(name)) return Promise.resolve(loopback)
      if (name === 'invalid' || name.endsWith('.invalid')) return Promise.reject(notFound(name))
      return once(name, async () => limited(await find(name)))
    },
    close: () => sources.cancel(),
  }
}

/**
 * Whether a name is `localhost` or ends with `.localhost` (RFC 6761 6.3). Hookline never sends
 * these names to a name server.
 */
export function isLoopbackName(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name)
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
const notFound = (name: string): Error => Object.assign(new Error(`${name} ENOTFOUND`), { code: 'ENOTFOUND' })

/** The first `maxPerFamily` addresses of each family, in the same order. */
function limited(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const used = new Set([4, 6].flatMap(family => addresses.filter(one => one.family === family).slice(0, maxPerFamily)))
  return addresses.filter(one => used.has(one))
}

/** The addresses of a name in the text of a hosts file. */
function listedIn(text: string, name: string): readonly LookupAddress[] {
  return text
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(name))
    .map(([address = '']) => ({ address, family: address.includes(':') ? 6 : 4 }))
}
