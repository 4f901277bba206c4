import { type UrlParts, urlParts } from '../../core/network/url.ts'
import { maxAgeMs, maxIdlePerHost, maxKept } from './client-limits.ts'
import type { DialPolicy, Generation } from './dial.ts'
import { type ConnectionOrigin, UndiciConnection } from './undici-connection.ts'

/** A URL, taken apart. */
export interface Target {
  readonly origin: ConnectionOrigin
  readonly path: string
}

/**
 * The connections of one state of the settings. undici's own pool looks for an idle one among all, cannot give up one that is
 * being dialled, and does not say which one a request went over.
 */
export class Pool implements Generation {
  readonly #policy: DialPolicy
  readonly #monotonic: () => number
  readonly #origins = new Map<string, ConnectionOrigin>()
  /** URLs come from the configuration only: they are few. */
  readonly #targets = new Map<string, Target>()
  #open = 0
  #isRetired = false

  constructor(policy: DialPolicy, monotonic: () => number) {
    this.#policy = policy
    this.#monotonic = monotonic
  }

  /** Undefined when this is no URL of HTTP. */
  target(url: string): Target | undefined {
    const known = this.#targets.get(url)
    if (known !== undefined) return known
    const parts = urlParts(url)
    if (parts === undefined) return undefined
    const target = { origin: this.#origin(parts), path: parts.path }
    this.#targets.set(url, target)
    return target
  }

  /** A kept connection, or a new one when there is none. */
  take(origin: ConnectionOrigin): UndiciConnection {
    for (let kept = origin.idle.pop(); kept !== undefined; kept = origin.idle.pop()) {
      if (kept.isClean) return kept
    }
    return this.fresh(origin)
  }

  /** Always a new connection. */
  fresh(origin: ConnectionOrigin): UndiciConnection {
    return new UndiciConnection(origin, {
      policy: this.#policy,
      monotonic: this.#monotonic,
      onOpen: () => {
        this.#open++
      },
      onClose: connection => {
        this.#open--
        this.#forget(connection)
      },
    })
  }

  /**
   * Keeps a connection whose request has ended, or drops it. Node confirms what is written over TLS one turn of the event loop
   * later, and an answer may come before that: the connection is checked again in the next turn. A request that is not confirmed by
   * then was answered before all of it was sent.
   */
  release(connection: UndiciConnection): void {
    if (connection.isClean || !connection.isOpen) this.#keepOrDrop(connection)
    else setImmediate(() => this.#keepOrDrop(connection))
  }

  #keepOrDrop(connection: UndiciConnection): void {
    const { idle } = connection.origin
    const isWelcome = !this.#isRetired && idle.length < maxIdlePerHost && this.#open <= maxKept
    if (isWelcome && connection.isClean && connection.age < maxAgeMs) {
      connection.noteReuse()
      idle.push(connection)
    } else {
      connection.drop()
    }
  }

  retire(): void {
    this.#isRetired = true
    for (const { idle } of this.#origins.values()) {
      for (const connection of idle.splice(0)) connection.drop()
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
    const origin: ConnectionOrigin = { url: withOrigin(url), host, port, isTls, idle: [], session: undefined }
    this.#origins.set(url, origin)
    return origin
  }
}

/** undici asks for the origin with each request, which a URL puts together anew each time. */
const withOrigin = (origin: string): URL => Object.defineProperty(new URL(origin), 'origin', { value: origin })
