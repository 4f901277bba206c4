import dns, { type LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { Cancel, Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'

/**
 * Resolves a host name to at most 16 addresses of each family. Rejects with an Error that has a
 * `code` (`ENOTFOUND`, `ETIMEOUT`, …).
 */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>

export interface NameSources {
  hostsFile(): Promise<string>
  /** Queries the name servers with c-ares, which needs no libuv thread. */
  query(name: string, family: 4 | 6): Promise<readonly string[]>
  /** Calls getaddrinfo, which holds one of the few libuv threads until it returns. */
  system(name: string): Promise<readonly LookupAddress[]>
  /** Reads /etc/resolv.conf, for later queries. It never rejects. */
  reload(): Promise<void>
  /** Cancels all queries in progress, also those from before the last `reload`. */
  cancel(): void
}

export interface Resolver {
  readonly resolve: Resolve
  /** Cancels queries in progress. */
  close(): void
}

/**
 * How long a result is cached, so that a burst of new connections causes one query. The time is
 * short, so that a DNS change takes effect soon.
 */
const cacheMs = 5_000
/**
 * Maximum addresses per family. Each new connection checks all of them, and a customer's name
 * servers can return thousands.
 */
const maxPerFamily = 16
/** How long to wait for the second address family after the first has arrived (RFC 8305 §3). */
const graceMs = durationMs(50)
const queryTimeoutMs = 1_000

/**
 * Error codes after which getaddrinfo is not tried: it would query the same servers, and hold a
 * thread.
 */
const codesWithoutFallback = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECANCELLED'])
/**
 * The cache keys of the hosts file and of the last reload of /etc/resolv.conf. They differ from all
 * host names, because no host name contains a slash.
 */
const hosts = '/etc/hosts'
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
  /** The resolver before the last reload, with its queries in progress. */
  let previous: typeof resolver | undefined
  /** The text of /etc/resolv.conf at the last reload. */
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
 * Creates a resolver. If the name server of a host name does not respond, the resolution of other
 * host names is not delayed (docs/decisions/0003-dns-resolution.md).
 */
export function createResolver({ clock, sources }: { clock: Clock; sources: NameSources }): Resolver {
  /**
   * Addresses by host name, the hosts file under `hosts`, and the last reload of /etc/resolv.conf
   * under `reloading`. Host names come only from the configuration, so they are few.
   */
  const cache = new Map<string, { readonly until: number; readonly answer: Promise<unknown> }>()

  /**
   * Returns the result of `ask`. Concurrent callers share one call of `ask`. Its result is then
   * cached for `cacheMs`, but an error is not cached.
   */
  function shareAndCache<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = cache.get(key)
    if (known !== undefined && clock.monotonic() < known.until) return known.answer as Promise<T>
    const answer = ask()
    cache.set(key, { until: Number.POSITIVE_INFINITY, answer })
    answer.then(
      () => cache.set(key, { until: clock.monotonic() + cacheMs, answer }),
      () => cache.delete(key),
    )
    return answer
  }

  async function find(name: string): Promise<readonly LookupAddress[]> {
    const listed = listedIn(await shareAndCache(hosts, sources.hostsFile), name)
    if (listed.length > 0) return listed
    // A name without a dot needs the search list of the operating system. Only getaddrinfo uses it.
    if (!name.includes('.')) return sources.system(name)
    try {
      return await queryBoth(name)
    } catch (error) {
      // The name servers may have been replaced. Only later queries use the new ones.
      void shareAndCache(reloading, sources.reload)
      if (codesWithoutFallback.has(codeOf(error))) throw error
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
      else reject(errors.find(error => codesWithoutFallback.has(codeOf(error))) ?? errors[0] ?? notFound(name))
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
      // The host `.` is the root of the DNS, which has no addresses.
      if (name === '') return Promise.reject(notFound(written))
      // RFC 6761: these names are never sent to a name server.
      if (isLoopbackName(name)) return Promise.resolve(loopback)
      if (name === 'invalid' || name.endsWith('.invalid')) return Promise.reject(notFound(name))
      return shareAndCache(name, async () => limited(await find(name)))
    },
    close: () => sources.cancel(),
  }
}

/** Whether a name is `localhost` or ends with `.localhost` (RFC 6761 6.3). */
export function isLoopbackName(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name)
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
const notFound = (name: string): Error => Object.assign(new Error(`${name} ENOTFOUND`), { code: 'ENOTFOUND' })

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
