interface HeldBody {
  readonly bytes: number
  /** When the collector began to receive the body, in ms of a monotonic clock. */
  readonly since: number
  readonly isEvictable: boolean
}

/**
 * Finds old, large request bodies to evict from memory. A search must not scan all bodies, because
 * an attacker can force thousands of evictions per second.
 */
export class BodiesBySize<B extends HeldBody> {
  readonly #classes: Set<B>[] = []
  readonly #classOf = new Map<B, Set<B>>()

  /**
   * Moves a body to the class of its size. A body that holds no bytes or cannot be evicted is in no
   * class.
   */
  place(body: B): void {
    const before = this.#classOf.get(body)
    const after = body.bytes > 0 && body.isEvictable ? this.#class(sizeClassOf(body.bytes)) : undefined
    if (after === before) return
    before?.delete(body)
    this.#classOf.delete(body)
    if (after !== undefined) this.#classOf.set(body, after.add(body))
  }

  /**
   * Returns an old body with more than `minBytes`. It is not always the oldest one: the search
   * considers only one body of each larger size class, the one that has been in the class longest.
   */
  findOldBody({ minBytes, before, except }: { minBytes: number; before: number; except: B }): B | undefined {
    let found: B | undefined
    for (let index = sizeClassOf(minBytes) + 1; index < this.#classes.length; index += 1) {
      const first = this.#first(this.#class(index), except)
      if (first !== undefined && first.since < (found?.since ?? before)) found = first
    }
    return found
  }

  #first(bodies: Set<B>, except: B): B | undefined {
    for (const body of bodies) {
      if (!body.isEvictable) this.place(body)
      else if (body !== except) return body
    }
    return undefined
  }

  #class(index: number): Set<B> {
    while (this.#classes.length <= index) this.#classes.push(new Set())
    return this.#classes[index] as Set<B>
  }
}

/**
 * Four size classes for each doubling of the size, so the sizes in a class differ by at most 19 %.
 */
const sizeClassOf = (bytes: number): number => Math.floor(4 * Math.log2(Math.max(bytes, 1)))
