interface HeldBody {
  readonly bytes: number
  /** When the body began, in ms of a monotonic clock. */
  readonly since: number
  readonly isEvictable: boolean
}

/**
 * Finds an old body of some size without a scan of all bodies, because an attacker can force
 * thousands of evictions per second among thousands of bodies. The bodies that can be evicted are
 * kept in size classes. A class has its bodies in the order in which they entered it.
 */
export class BodiesBySize<B extends HeldBody> {
  readonly #classes: Set<B>[] = []
  readonly #classOf = new Map<B, Set<B>>()

  /** Adds a body, or moves it to the class of its present size. Without bytes, it is removed. */
  place(body: B): void {
    const before = this.#classOf.get(body)
    const after = body.bytes > 0 && body.isEvictable ? this.#class(sizeClassOf(body.bytes)) : undefined
    if (after === before) return
    before?.delete(body)
    this.#classOf.delete(body)
    if (after !== undefined) this.#classOf.set(body, after.add(body))
  }

  /**
   * Returns the body that began first, of those that began before `before` and have at least
   * `minBytes`. It can be a slightly younger one, because only the body that is in its class for
   * the longest time is compared. Bodies of up to 19 % more than `minBytes` can be ignored.
   */
  oldest({ minBytes, before, except }: { minBytes: number; before: number; except: B }): B | undefined {
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

/** Four classes for each doubling of the size: the sizes in a class differ by at most 19 %. */
const sizeClassOf = (bytes: number): number => Math.floor(4 * Math.log2(Math.max(bytes, 1)))
