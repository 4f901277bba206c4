import { maxOpen } from './http-client-limits.ts'

interface Connection {
  /** Closes the connection immediately. */
  destroy(): unknown
}

/**
 * The open connections of a transport. Above the maximum, the connection that has been idle for
 * longest is closed. Connections in use are never closed.
 */
export class OpenConnections {
  readonly #max: number
  #count = 0
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>()

  constructor(max = maxOpen) {
    this.#max = max
  }

  opened(): void {
    this.#count++
    this.#closeSurplus()
  }

  closed(connection: Connection): void {
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
      longestIdle.destroy()
      return
    }
  }
}
