import { maxOpenWith } from './http-client-limits.ts'

interface Connection {
  /** Closes the connection immediately. */
  destroy(): unknown
}

/**
 * Limits the open connections. Above the maximum, the connection that has been idle for longest is
 * closed. Connections in use are never closed, so they can exceed the maximum.
 */
export class ConnectionLimit {
  readonly #max: number
  /** Open connections, not counting those that are being closed. */
  #count = 0
  /** The idle connections, in the order in which they became idle. */
  readonly #idle = new Set<Connection>()
  /** Destroyed connections whose event `close` has not come yet. */
  readonly #closing = new Set<Connection>()

  /** By default, the maximum depends on the memory limit of the container. */
  constructor(max = maxOpenWith(process.constrainedMemory())) {
    this.#max = max
  }

  opened(): void {
    this.#count++
    this.#closeSurplus()
  }

  closed(connection: Connection): void {
    if (this.#closing.delete(connection)) return
    this.#count--
    this.#idle.delete(connection)
  }

  becameIdle(connection: Connection): void {
    this.#idle.add(connection)
    this.#closeSurplus()
  }

  reused(connection: Connection): void {
    this.#idle.delete(connection)
  }

  #closeSurplus(): void {
    if (this.#count <= this.#max) return
    for (const longestIdle of this.#idle) {
      this.#idle.delete(longestIdle)
      this.#closing.add(longestIdle)
      this.#count--
      longestIdle.destroy()
      return
    }
  }
}
