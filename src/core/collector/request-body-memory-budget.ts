import { BodiesBySize } from './evictable-bodies-by-size.ts'
import { BytesByGroup } from './memory-limit-by-group.ts'

/** A memory budget that several callers share. It limits the sum of the bytes that they take. */
export class MemoryBudget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /**
   * Takes bytes from the budget. Returns false when not enough bytes are free. `own` is the number
   * of bytes that the caller has already taken. A caller that alone holds memory may exceed the
   * limit, so that a request larger than the whole budget can proceed.
   */
  take(bytes: number, own = 0): boolean {
    if (this.#held > own && this.#held + bytes > this.#limit) return false
    this.#held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}

/**
 * Why a request body gets no memory or is evicted.
 * - `budget`: the group of the body may not hold more bytes (see `BodyBudget`).
 * - `address`: the bodies of one client address, of known and unknown sources, have together
 *   reached the limit for an address.
 */
export type BodyRefusal = 'budget' | 'address'

export interface BodyBudgetLimits {
  /** Maximum bytes of all bodies of this process with a known source. */
  readonly authenticated: number
  /** Maximum bytes of all bodies of this process whose source is not known yet. */
  readonly keyless: number
  /**
   * Maximum bytes of all bodies of one client address in this process, of known and unknown
   * sources.
   */
  readonly perAddress: number
}

export interface BodyOwner {
  /** `undefined` when the source is not known yet. */
  readonly sourceId: string | undefined
  readonly address: string
}

/**
 * Minimum age, in ms, of a body that is evicted for another body of the same group or client
 * address.
 */
const graceMs = 1_000

/**
 * A body whose source is not known yet is evicted for its age only if it holds at least this part
 * of a fair share (see `BodyBudget`), so that an attack with large bodies does not evict small
 * ones.
 */
const largePart = 0.75

/**
 * Divides the memory for request bodies fairly among the senders. The memory has two separate
 * parts. In the part for bodies whose source is known, all bodies of one source form a group. In
 * the part for bodies whose source is not known yet, all bodies of one client address form a group.
 *
 * A group may hold at most as many bytes as are still free in its part, so a single group gets at
 * most half of the part. If n groups hold or need memory in a part, the *fair share* of each group
 * is the size of the part, divided by n + 1. The *cost* of a body is its bytes times its age.
 *
 * If a body needs more than its group may hold, another body can be evicted: its request is refused
 * or, if its response is already being sent, its connection is closed. A complete body that waits
 * for Kafka is never evicted. These rules decide which body is evicted:
 * - If the group is below its fair share, the costliest body of a group above its fair share is
 *   evicted.
 * - If the group is above its fair share, only a body of the same group is evicted. This body must
 *   cost more than the body that needs memory, and must have begun at least a second ago. This rule
 *   also applies to the limit of a client address.
 *
 * In the part for bodies whose source is not known yet, another rule comes first, because an
 * attacker can have thousands of client addresses, each within its fair share. The oldest body that
 * holds at least about three quarters of a fair share is evicted. If the group of the body that
 * needs memory is above its fair share, the evicted body must be older than that body.
 */
export class BodyBudget {
  readonly #now: () => number
  readonly #onRefused: (cause: BodyRefusal) => void
  readonly #authenticated: Part
  readonly #keyless: Part
  readonly #addresses: Part

  /**
   * `now` returns milliseconds of a monotonic clock. `onRefused` is called for each body that is
   * refused or evicted.
   */
  constructor(limits: BodyBudgetLimits, now: () => number, onRefused: (cause: BodyRefusal) => void) {
    this.#now = now
    this.#onRefused = onRefused
    this.#authenticated = new Part(limits.authenticated)
    this.#keyless = new Part(limits.keyless, new BodiesBySize())
    this.#addresses = new Part(limits.perAddress)
  }

  get held(): { readonly authenticated: number; readonly keyless: number } {
    return { authenticated: this.#authenticated.held, keyless: this.#keyless.held }
  }

  /** Starts to count a body. `onEvicted` is called at most once. */
  open({ sourceId, address }: BodyOwner, onEvicted: () => void): Body {
    const part = sourceId === undefined ? this.#keyless : this.#authenticated
    return new Body(this, { part, group: sourceId ?? address, address, since: this.#now(), onEvicted })
  }

  take(body: Body, bytes: number): boolean {
    if (!this.#makeRoom(body, bytes)) return false
    this.#count(body, bytes)
    return true
  }

  /** Whether the body could hold these further bytes if no other body held memory. */
  canEverHold({ part, bytes: held }: Body, bytes: number): boolean {
    const all = held + bytes
    return all <= this.#addresses.limit && all <= part.limit - all
  }

  /**
   * Counts the bytes of the body for its source, which is now known. Returns false when the source
   * may not hold more bytes.
   */
  assign(body: Body, sourceId: string): boolean {
    const { part, group, bytes } = body
    if (part === this.#authenticated && group === sourceId) return true
    this.#count(body, -bytes)
    body.part = this.#authenticated
    body.group = sourceId
    return this.take(body, bytes)
  }

  shrink(body: Body, bytes: number): void {
    this.#count(body, Math.min(bytes, body.bytes) - body.bytes)
  }

  release(body: Body): void {
    this.#count(body, -body.bytes)
  }

  #makeRoom(body: Body, bytes: number): boolean {
    for (;;) {
      const cause = this.#lacking(body, bytes)
      if (cause === undefined) return true
      const victim = this.#victim(body, bytes, cause)
      this.#onRefused(cause)
      if (victim === undefined) return false
      this.release(victim)
      victim.evict()
    }
  }

  #lacking({ part, group, address }: Body, bytes: number): BodyRefusal | undefined {
    if (this.#addresses.heldBy(address) + bytes > this.#addresses.limit) return 'address'
    return part.heldBy(group) + bytes > part.limit - part.held - bytes ? 'budget' : undefined
  }

  #victim(body: Body, bytes: number, cause: BodyRefusal): Body | undefined {
    if (!this.canEverHold(body, bytes)) return undefined
    return cause === 'address' ? this.#oldOne(body, other => other.address === body.address) : this.#rival(body, bytes)
  }

  #rival(body: Body, bytes: number): Body | undefined {
    const { part, group } = body
    const share = part.limit / (part.groupsWith(group) + 1)
    const isAbove = part.heldBy(group) + bytes > share
    const before = isAbove ? body.since : Number.POSITIVE_INFINITY
    const oldest = part.bySize?.oldest({ minBytes: largePart * share, before, except: body })
    if (oldest !== undefined) return oldest
    if (isAbove) return this.#oldOne(body, other => other.part === part && other.group === group)
    return this.#costliest(body, other => other.part === part && part.heldBy(other.group) > share)
  }

  #oldOne(body: Body, isRival: (other: Body) => boolean): Body | undefined {
    const now = this.#now()
    const cost = body.cost(now)
    return this.#costliest(body, other => now - other.since >= graceMs && other.cost(now) > cost && isRival(other), now)
  }

  #costliest(body: Body, isRival: (other: Body) => boolean, now = this.#now()): Body | undefined {
    let found: Body | undefined
    let highest = 0
    for (const other of this.#addresses.bodies) {
      const cost = other.cost(now)
      if (cost <= highest || other === body || !other.isEvictable || !isRival(other)) continue
      found = other
      highest = cost
    }
    return found
  }

  #count(body: Body, bytes: number): void {
    body.bytes += bytes
    body.part.count(body, body.group, bytes)
    this.#addresses.count(body, body.address, bytes)
  }
}

interface BodyFacts {
  part: Part
  group: string
  readonly address: string
  readonly since: number
  readonly onEvicted: () => void
}

/** The memory of one request, from the first byte of its body until its response is sent. */
class Body {
  readonly #budget: BodyBudget
  readonly #onEvicted: () => void
  readonly address: string
  readonly since: number
  part: Part
  group: string
  bytes = 0
  /**
   * True while clients decide how long the body holds its memory: while the body is received, waits
   * to be unpacked, or its response is sent.
   */
  isEvictable = true
  #isEvicted = false

  constructor(budget: BodyBudget, { part, group, address, since, onEvicted }: BodyFacts) {
    this.#budget = budget
    this.part = part
    this.group = group
    this.address = address
    this.since = since
    this.#onEvicted = onEvicted
  }

  take(bytes: number): boolean {
    return !this.#isEvicted && this.#budget.take(this, bytes)
  }

  canEverHold(bytes: number): boolean {
    return this.#budget.canEverHold(this, bytes)
  }

  assign(sourceId: string): boolean {
    return !this.#isEvicted && this.#budget.assign(this, sourceId)
  }

  received(): void {
    this.isEvictable = false
  }

  answered(bytes: number): void {
    this.isEvictable = true
    this.#budget.shrink(this, bytes)
  }

  release(): void {
    this.#budget.release(this)
  }

  cost(now: number): number {
    return this.bytes * (now - this.since + 1)
  }

  evict(): void {
    this.#isEvicted = true
    this.#onEvicted()
  }
}

/** One part of the budget: its limit, its bodies, and the bytes that each group holds. */
class Part extends BytesByGroup {
  readonly limit: number
  readonly bodies = new Set<Body>()
  /** The bodies by size, only in the part for bodies whose source is not known yet. */
  readonly bySize: BodiesBySize<Body> | undefined

  constructor(limit: number, bySize?: BodiesBySize<Body>) {
    super()
    this.limit = limit
    this.bySize = bySize
  }

  count(body: Body, group: string, bytes: number): void {
    this.add(group, bytes)
    if (body.bytes === 0) this.bodies.delete(body)
    else this.bodies.add(body)
    this.bySize?.place(body)
  }
}
