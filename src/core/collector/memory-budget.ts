/** Bytes that may be held at once. */
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
   * False when that much is not to be had. What is larger than the whole budget gets it when nothing else is held. `own`: bytes
   * that the caller has taken already.
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

/** Why memory for a body is refused or taken away: no room in its part of the budget, or its client address has its maximum. */
export type BodyRefusal = 'budget' | 'address'

export interface BodyBudgetLimits {
  /** Bytes of bodies whose source is known. */
  readonly authenticated: number
  /** Bytes of bodies whose source is not known yet. */
  readonly keyless: number
  /** Bytes of all bodies of one client address. */
  readonly perAddress: number
}

export interface BodyOwner {
  /** Undefined: not known yet. */
  readonly sourceId: string | undefined
  /** Of the client. */
  readonly address: string
}

/** A body that has been received for less time is never evicted for another one of its own group. */
const graceMs = 1_000

/**
 * Memory for request bodies, in fair shares. Bodies with a known source and bodies without one have separate parts. The groups
 * of a part are the sources, or, where the source is not known, the client addresses. No group holds more than it leaves free, so
 * that others find room also while complete bodies, which are not evicted, wait for Kafka. The fair share is what each has when
 * all of them hold as much as is free: the part divided by one more than the groups that hold any of it. Where a group would
 * hold more than is free:
 *
 * - a group within its share gets room: from the groups beyond theirs, the costliest body that is still being received is evicted;
 * - a group beyond its share gets room only from its own bodies that have been received for more than a second.
 *
 * The costliest body is the one with the highest product of bytes and time: the large and the slow one, not the newcomer.
 */
export class BodyBudget {
  readonly #now: () => number
  readonly #onRefused: (cause: BodyRefusal) => void
  readonly #authenticated: Part
  readonly #keyless: Part
  readonly #addresses: Part

  /** `now`: milliseconds of a monotonic clock. `onRefused` is called for each body that is refused or evicted. */
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

  /** `onEvicted` is called once, when others need what the body holds more than it does; it holds nothing then. */
  open({ sourceId, address }: BodyOwner, onEvicted: () => void): Body {
    const part = sourceId === undefined ? this.#keyless : this.#authenticated
    return new Body(this, { part, group: sourceId ?? address, address, since: this.#now(), onEvicted })
  }

  take(body: Body, bytes: number): boolean {
    if (!this.#makeRoom(body, bytes)) return false
    this.#count(body, bytes)
    return true
  }

  /** The source of the body has become known: it moves to the share of that source. False: there is no room for it. */
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

  /** The body that gives way to this one; undefined: none does. */
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

/** The memory of one request body, from its first byte until the request is answered. */
class Body {
  readonly #budget: BodyBudget
  readonly #onEvicted: () => void
  readonly address: string
  readonly since: number
  part: Part
  group: string
  bytes = 0
  /** Only these are evicted. */
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

  /** Byte-milliseconds. */
  cost(now: number): number {
    return this.bytes * (now - this.since + 1)
  }

  evict(): void {
    this.#isEvicted = true
    this.#onEvicted()
  }
}

/** A limit with what is held of it, by group. */
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

  /** Groups that hold anything, and that one. */
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
