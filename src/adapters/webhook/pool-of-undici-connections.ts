import { type UrlParts, urlParts } from '../../core/network/url.ts'
import type { ConnectionRules } from './connection-rules.ts'
import { maxAgeMs } from './http-client-limits.ts'
import type { ConnectionLimit } from './open-connection-limit.ts'
import type { PoolGeneration } from './pools-by-tls-identity.ts'
import { type ConnectionOrigin, UndiciConnection } from './reusable-undici-connection.ts'
import { TlsEndpoints } from './tls-sessions-and-certificate-refusals.ts'

/** A parsed webhook URL. */
export interface Target {
  readonly origin: ConnectionOrigin
  readonly path: string
}

/**
 * Replaces undici's own pool, which searches all connections for an idle one, cannot cancel a
 * connect, and does not report which connection a request used.
 */
export class Pool implements PoolGeneration {
  readonly #rules: ConnectionRules
  readonly #monotonic: () => number
  readonly #endpoints: TlsEndpoints
  readonly #origins = new Map<string, ConnectionOrigin>()
  /** Parsed URLs by text. They come from the configuration, so the map stays small. */
  readonly #targets = new Map<string, Target>()
  readonly #connectionLimit: ConnectionLimit
  #isRetired = false

  constructor(rules: ConnectionRules, connectionLimit: ConnectionLimit, monotonic: () => number) {
    this.#rules = rules
    this.#connectionLimit = connectionLimit
    this.#monotonic = monotonic
    this.#endpoints = new TlsEndpoints(monotonic)
  }

  /** Returns the parsed URL; `undefined` when the text is not an HTTP or HTTPS URL. */
  target(url: string): Target | undefined {
    const known = this.#targets.get(url)
    if (known !== undefined) return known
    const parts = urlParts(url)
    if (parts === undefined) return undefined
    const target = { origin: this.#origin(parts), path: parts.path }
    this.#targets.set(url, target)
    return target
  }

  /** Returns an idle connection, or a new one. */
  take(origin: ConnectionOrigin): UndiciConnection {
    for (let kept = origin.idle.pop(); kept !== undefined; kept = origin.idle.pop()) {
      this.#connectionLimit.reused(kept)
      if (kept.isClean) return kept
    }
    return this.fresh(origin)
  }

  /** Returns a new connection, which connects with its first request. */
  fresh(origin: ConnectionOrigin): UndiciConnection {
    return new UndiciConnection(origin, {
      rules: this.#rules,
      endpoints: this.#endpoints,
      monotonic: this.#monotonic,
      onOpen: () => this.#connectionLimit.opened(),
      onClose: connection => {
        this.#connectionLimit.closed(connection)
        this.#forget(connection)
      },
    })
  }

  /**
   * Keeps or closes a connection whose request has ended. If the connection seems to have unsent
   * bytes, this method decides in the next iteration of the event loop: over TLS, Node may count
   * the last bytes as unsent until then.
   */
  release(connection: UndiciConnection): void {
    if (connection.isClean || !connection.isOpen) this.#keepOrDestroy(connection)
    else setImmediate(() => this.#keepOrDestroy(connection))
  }

  #keepOrDestroy(connection: UndiciConnection): void {
    const { idle } = connection.origin
    if (this.#isRetired || !connection.isClean || connection.age >= maxAgeMs) {
      connection.destroy()
      return
    }
    connection.markReusable()
    idle.push(connection)
    this.#connectionLimit.becameIdle(connection)
  }

  retire(): void {
    this.#isRetired = true
    for (const { idle } of this.#origins.values()) {
      for (const connection of idle.splice(0)) connection.destroy()
    }
  }

  #forget(connection: UndiciConnection): void {
    const { idle } = connection.origin
    const index = idle.indexOf(connection)
    if (index >= 0) idle.splice(index, 1)
  }

  #origin({ origin: url, hostname: host, port, isTls }: UrlParts): ConnectionOrigin {
    const known = this.#origins.get(url)
    if (known !== undefined) return known
    const origin: ConnectionOrigin = { url: withOrigin(url), host, port, isTls, idle: [] }
    this.#origins.set(url, origin)
    return origin
  }
}

/**
 * Stores the origin as a plain property. undici reads it for each request, and the getter of `URL`
 * would compute it each time.
 */
const withOrigin = (origin: string): URL => Object.defineProperty(new URL(origin), 'origin', { value: origin })
