/** Limits the bytes that are in use at the same time. */
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
   * Takes bytes from the budget. Returns false when not enough bytes are free. `own` are the bytes
   * that the caller already holds. A caller may exceed the limit when no other caller holds any
   * bytes, so that a request larger than the whole budget can proceed.
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
 * Why a request body gets no memory or is evicted. `budget`: its part of the budget has no room.
 * `address`: its client address is at the limit.
 */
export type BodyRefusal = 'budget' | 'address'

export interface BodyBudgetLimits {
  /** Maximum bytes of all bodies whose source is known. */
  readonly authenticated: number
  /** Maximum bytes of all bodies whose source is not known yet. */
  readonly keyless: number
  /** Maximum bytes of all bodies of one client address. */
  readonly perAddress: number
}

export interface BodyOwner {
  /** `undefined` when the source is not known yet. */
  readonly sourceId: string | undefined
  readonly address: string
}

/**
 * In its first second, a body is not evicted for another body of its group (see `BodyBudget`) or
 * client address.
 */
const graceMs = 1_000

/**
 * Divides the memory for request bodies into fair shares. Bodies with a known source and bodies
 * without one use separate parts of the budget. A group is a source, or a client address when the
 * source is not known. No group may hold more bytes than stay free in its part. So other groups
 * find room even while complete bodies, which cannot be evicted, wait for Kafka. The fair share is
 * the part divided by one more than the number of groups that hold memory. When a group needs more
 * than it may hold:
 *
 * - A group below its share gets room: the costliest incomplete body of a group above its share is
 *   evicted.
 * - A group above its share gets room only from its own costlier bodies that began more than a
 *   second ago.
 *
 * The second rule also applies to the limit of a client address. The cost of a body is its bytes
 * times its age, so that large and slow bodies are evicted, not new ones.
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
    this.#keyless = new Part(limits.keyless)
    this.#addresses = new Part(limits.perAddress)
  }

  get held(): { readonly authenticated: number; readonly keyless: number } {
    return { authenticated: this.#authenticated.held, keyless: this.#keyless.held }
  }

  /**
   * Starts to count a body. `onEvicted` is called at most once, when the body is evicted to free
   * memory for another body.
   */
  open({ sourceId, address }: BodyOwner, onEvicted: () => void): Body {
    const part = sourceId === undefined ? this.#keyless : this.#authenticated
    return new Body(this, { part, group: sourceId ?? address, address, since: this.#now(), onEvicted })
  }

  take(body: Body, bytes: number): boolean {
    if (!this.#makeRoom(body, bytes)) return false
    this.#count(body, bytes)
    return true
  }

  /**
   * Moves the body to the share of its source, which is now known. Returns false when the share has
   * no room.
   */
  assign(body: Body, sourceId: string): boolean {
    const { part, group, bytes } = body
    if (part === this.#authenticated && group === sourceId) return true
    this.#count(body, -bytes)
    body.part = this.#authenticated
    body.group = sourceId
    return this.take(body, bytes)
  }

  release(body: Body): void {
    this.#count(body, -body.bytes)
  }

  #makeRoom(body: Body, bytes: number): boolean {
    for (;;) {
      const cause = this.#lacking(body, bytes)
      if (cause === undefined) return true
      const victim =
        cause === 'address' ? this.#oldOne(body, other => other.address === body.address) : this.#rival(body, bytes)
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

  /** The body to evict so that `body` gets its bytes; `undefined` when there is none. */
  #rival(body: Body, bytes: number): Body | undefined {
    const { part, group } = body
    const share = part.limit / (part.groupsWith(group) + 1)
    if (part.heldBy(group) + bytes > share)
      return this.#oldOne(body, other => other.part === part && other.group === group)
    return this.#costliest(body, other => other.part === part && part.heldBy(other.group) > share)
  }

  #oldOne(body: Body, isRival: (other: Body) => boolean): Body | undefined {
    const cost = body.cost(this.#now())
    const isOld = (other: Body) => this.#now() - other.since >= graceMs && other.cost(this.#now()) > cost
    return this.#costliest(body, other => isRival(other) && isOld(other))
  }

  #costliest(body: Body, isRival: (other: Body) => boolean): Body | undefined {
    const now = this.#now()
    let found: Body | undefined
    for (const other of this.#addresses.bodies) {
      if (other === body || !other.isReceiving || !isRival(other)) continue
      if (found === undefined || other.cost(now) > found.cost(now)) found = other
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

/** The memory of one request body, from its first byte until the response is sent. */
class Body {
  readonly #budget: BodyBudget
  readonly #onEvicted: () => void
  readonly address: string
  readonly since: number
  part: Part
  group: string
  bytes = 0
  /** Only bodies that are still being received can be evicted. */
  isReceiving = true
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

  assign(sourceId: string): boolean {
    return !this.#isEvicted && this.#budget.assign(this, sourceId)
  }

  received(): void {
    this.isReceiving = false
  }

  release(): void {
    this.#budget.release(this)
  }

  /** Bytes times milliseconds. */
  cost(now: number): number {
    return this.bytes * (now - this.since + 1)
  }

  evict(): void {
    this.#isEvicted = true
    this.#onEvicted()
  }
}

/** One part of the budget: its limit, and the bytes that each group holds. */
class Part {
  readonly limit: number
  readonly bodies = new Set<Body>()
  readonly #groups = new Map<string, number>()
  held = 0

  constructor(limit: number) {
    this.limit = limit
  }

  heldBy(group: string): number {
    return this.#groups.get(group) ?? 0
  }

  /** The number of groups that hold memory, including this one. */
  groupsWith(group: string): number {
    return this.#groups.size + (this.#groups.has(group) ? 0 : 1)
  }

  count(body: Body, group: string, bytes: number): void {
    const groupBytes = this.heldBy(group) + bytes
    this.held += bytes
    if (groupBytes === 0) this.#groups.delete(group)
    else this.#groups.set(group, groupBytes)
    if (body.bytes === 0) this.bodies.delete(body)
    else this.bodies.add(body)
  }
}
