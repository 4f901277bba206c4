/** Counts the bytes that each group of callers holds, for example all requests of one source. */
export class BytesByGroup {
  readonly #groups = new Map<string, number>()
  held = 0

  heldBy(group: string): number {
    return this.#groups.get(group) ?? 0
  }

  /** The number of groups among which memory is divided: those that hold memory, and `group`. */
  groupsWith(group: string): number {
    return this.#groups.size + (this.#groups.has(group) ? 0 : 1)
  }

  add(group: string, bytes: number): void {
    const groupBytes = this.heldBy(group) + bytes
    this.held += bytes
    if (groupBytes === 0) this.#groups.delete(group)
    else this.#groups.set(group, groupBytes)
  }
}

/**
 * A group may hold this many times the free bytes: with 3, at most three quarters of the memory.
 */
const timesFree = 3

/** Limits the memory of several groups together. No group can take all of it. */
export class SharedMemory {
  readonly #limit: number
  readonly #bytes = new BytesByGroup()

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#bytes.held
  }

  /**
   * Takes memory for a group; returns false if a limit does not permit it. `own`: bytes that the
   * caller has already taken. A caller that alone holds memory may exceed the limit, to let a very
   * large request proceed.
   */
  take(group: string, bytes: number, own = 0): boolean {
    const { held } = this.#bytes
    const free = this.#limit - held - bytes
    if (held > own && this.#bytes.heldBy(group) + bytes > timesFree * free) return false
    this.#bytes.add(group, bytes)
    return true
  }

  giveBack(group: string, bytes: number): void {
    this.#bytes.add(group, -bytes)
  }
}
