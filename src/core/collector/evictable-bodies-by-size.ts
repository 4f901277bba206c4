interface HeldBody {
  readonly bytes: number
  /** When the collector began to receive the body, in ms of a monotonic clock. */
  readonly since: number
  readonly isEvictable: boolean
}

/**
 * Finds an old body that has at least a given size, for `BodyBudget` to evict (to remove from
 * memory). It does not scan all bodies, because an attacker can force thousands of evictions per
 * second. Bodies are kept in size classes, in the order in which they entered their class.
 */
export class BodiesBySize<B extends HeldBody> {
  readonly #classes: Set<B>[] = []
  readonly #classOf = new Map<B, Set<B>>()

  /**
   * Adds a body, or moves it to the class of its present size. Removes a body that holds no bytes
   * or cannot be evicted.
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
   * Returns an old body, other than `except`, that began before `before` and has at least
   * `minBytes` bytes. The search is fast but not exact:
   * - Of each size class, it considers only the body that entered the class first. So a slightly
   *   older body may exist.
   * - It may ignore bodies with up to 19 % more than `minBytes`.
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

/**
 * Four size classes for each doubling of the size, so the sizes in a class differ by at most 19 %.
 */
const sizeClassOf = (bytes: number): number => Math.floor(4 * Math.log2(Math.max(bytes, 1)))
