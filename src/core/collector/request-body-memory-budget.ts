import { BodiesBySize } from './evictable-bodies-by-size.ts'
import { BytesByGroup } from './memory-limit-by-group.ts'

/**
 * Why a request body gets no memory or is evicted:
 * - `budget`: the group of the body may not hold more bytes (see `BodyBudget`).
 * - `address`: all bodies of one client address together have reached its limit.
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
 * A body without a known source is evicted for its age only if it holds at least this part of a
 * fair share (see `BodyBudget`): an attack with large bodies must not evict small ones.
 */
const largePart = 0.75

/**
 * Divides the memory for request bodies fairly among groups: the bodies of one source or, in the
 * part `keyless`, of one client address.
 *
 * A group may hold at most as many bytes as are free in its part. With n groups that hold or need
 * memory, the *fair share* is the limit of the part, divided by n + 1.
 *
 * If a new body (one that needs memory) may not hold more, another body is evicted, but never one
 * that waits for Kafka. Without a body to evict, the new body is refused. The cost of a body is its
 * bytes times its age. The first case that applies decides:
 * - The client address of the new body is at its limit: the costliest body of this address, if it
 *   is at least a second old and costlier than the new body.
 * - In `keyless`: the oldest body of about `largePart` of a fair share or more, because an attacker
 *   can have thousands of client addresses. If the group of the new body is above its fair share,
 *   the evicted body must be older than the new body.
 * - The group of the new body is above its fair share: the costliest body of this group, if it is
 *   at least a second old and costlier than the new body.
 * - Otherwise: the costliest body of a group above its fair share.
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
   * Counts the body for its source, which is now known. Returns false when the source may not hold
   * more bytes.
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
    const oldBody = part.bySize?.findOldBody({ minBytes: largePart * share, before, except: body })
    if (oldBody !== undefined) return oldBody
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
   * True while clients can prolong the use of the memory: while the body is received, while it
   * waits for a permit for decompression, and while the response is sent.
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
  /**
   * The bodies by size. Set only for the part of the budget whose bodies have no known source yet.
   */
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
