import { murmur2 } from '../message/murmur2.ts'
import type { Membership } from './membership.ts'
import { maxStateBytes, packState, positionAt, unpackState } from './membership-byte-layout.ts'

/** Bytes of an entry's header: 2 for the key's length, 4 for the size of the state's space. */
const headerBytes = 6
/**
 * Initial slots of the hash table, a power of two. At most three quarters of the slots are used.
 */
const minSlots = 16
const minBytes = 1_024
const maxKeyBytes = 65_535

/**
 * Memberships by user id: a hash table in one block of bytes. A `Map` of objects takes four times
 * as much memory.
 */
export class PackedMemberships {
  /**
   * For each slot, the position of its entry in `#entries` plus 1, or 0 for a free slot. Collisions
   * use linear probing.
   */
  #slots = new Uint32Array(minSlots)
  /**
   * For each slot, eight bits of the hash of its key, so that nearly all searches compare only one
   * key.
   */
  #tags = new Uint8Array(minSlots)
  #entries = Buffer.allocUnsafeSlow(minBytes)
  /** Position of the next entry in `#entries`. */
  #end = 0
  /** Bytes of deleted or moved entries in `#entries`. */
  #wasted = 0
  #size = 0
  /**
   * Increases when an entry is added or deleted. By this number, an iteration of `users` detects
   * these changes, which are not allowed during the iteration.
   */
  #generation = 0
  /** Length in bytes of the key that `#find` wrote after the last entry. */
  #keyLength = 0
  #keyTag = 0

  get size(): number {
    return this.#size
  }

  /** Bytes that the table takes in memory. */
  get bytes(): number {
    return this.#slots.byteLength + this.#tags.length + this.#entries.length
  }

  get(userId: string): Membership | undefined {
    const entry = this.#slots[this.#find(userId)]! - 1
    return entry < 0 ? undefined : unpackState(this.#entries, this.#stateOf(entry))
  }

  /** Offset of the last input that changed the user's membership. Cheaper than `get`. */
  positionOf(userId: string): number | undefined {
    const entry = this.#slots[this.#find(userId)]! - 1
    return entry < 0 ? undefined : positionAt(this.#entries, this.#stateOf(entry))
  }

  set(userId: string, state: Membership): void {
    const slot = this.#find(userId)
    const next = this.#end + headerBytes + this.#keyLength
    const length = packState(state, this.#entries, next)
    if (length === undefined) {
      this.#reallocate(headerBytes + this.#keyLength + maxStateBytes(state))
      return this.set(userId, state)
    }
    const entry = this.#slots[slot]! - 1
    if (entry < 0) this.#insert(slot, length)
    else if (length > this.#stateBytesOf(entry)) this.#move(slot, length)
    else this.#entries.copyWithin(this.#stateOf(entry), next, next + length)
  }

  delete(userId: string): void {
    let free = this.#find(userId)
    const entry = this.#slots[free]! - 1
    if (entry < 0) return
    this.#wasted += this.#lengthOf(entry)
    this.#size--
    this.#generation++
    // Backward-shift deletion: later entries move towards the freed slot, so that a search can stop
    // at the first free slot.
    const mask = this.#slots.length - 1
    for (let at = (free + 1) & mask; this.#slots[at] !== 0; at = (at + 1) & mask) {
      const home = this.#homeOf(this.#slots[at]! - 1)
      if (((at - home) & mask) < ((at - free) & mask)) continue
      this.#slots[free] = this.#slots[at]!
      this.#tags[free] = this.#tags[at]!
      free = at
    }
    this.#slots[free] = 0
    if (this.#wasted > this.#entries.length / 2) this.#reallocate(0)
  }

  /**
   * Iterates over all user ids. States may be replaced during the iteration, but no user may be
   * added or deleted.
   */
  *users(): IterableIterator<string> {
    const generation = this.#generation
    for (let slot = 0; slot < this.#slots.length; slot++) {
      if (generation !== this.#generation)
        throw new TypeError('bug in hookline: a user was added or deleted during an iteration')
      const entry = this.#slots[slot]! - 1
      if (entry >= 0) yield this.#entries.toString('utf8', entry + headerBytes, this.#stateOf(entry))
    }
  }

  /** The longest distance, in slots, between an entry and its home slot. Tests check it. */
  longestSearch(): number {
    const mask = this.#slots.length - 1
    return this.#slots.reduce((longest, address, slot) => {
      const distance = address === 0 ? 0 : (slot - this.#homeOf(address - 1)) & mask
      return Math.max(longest, distance)
    }, 0)
  }

  /**
   * Finds the slot of a user's entry, or a free slot. Leaves the key after the last entry, so that
   * `#append` need not copy it.
   */
  #find(userId: string): number {
    const maxBytes = headerBytes + userId.length * 3
    if (this.#end + maxBytes > this.#entries.length) this.#reallocate(maxBytes)
    const from = this.#end + headerBytes
    this.#keyLength = this.#entries.write(userId, from)
    if (this.#keyLength > maxKeyBytes)
      throw new RangeError(`the user id has ${this.#keyLength} bytes; the limit is ${maxKeyBytes}`)
    const hash = hashOf(this.#entries, from, from + this.#keyLength)
    this.#keyTag = tagOf(hash)
    const mask = this.#slots.length - 1
    let slot = this.#home(hash)
    for (let entry = this.#slots[slot]!; entry !== 0 && !this.#isAt(slot, entry - 1); entry = this.#slots[slot]!)
      slot = (slot + 1) & mask
    return slot
  }

  /** Whether the entry in this slot has the key that `#find` wrote. */
  #isAt(slot: number, entry: number): boolean {
    if (this.#tags[slot] !== this.#keyTag || this.#entries.readUInt16LE(entry) !== this.#keyLength) return false
    const key = this.#end + headerBytes
    const from = entry + headerBytes
    return this.#entries.compare(this.#entries, key, key + this.#keyLength, from, from + this.#keyLength) === 0
  }

  #hashOf(entry: number): number {
    return hashOf(this.#entries, entry + headerBytes, this.#stateOf(entry))
  }

  #homeOf(entry: number): number {
    return this.#home(this.#hashOf(entry))
  }

  /**
   * Where a search begins: the highest bits of the hash, because the lowest can be equal for all
   * keys.
   */
  #home(hash: number): number {
    return hash >>> (Math.clz32(this.#slots.length) + 1)
  }

  #stateOf(entry: number): number {
    return entry + headerBytes + this.#entries.readUInt16LE(entry)
  }

  #stateBytesOf(entry: number): number {
    return this.#entries.readUInt32LE(entry + 2)
  }

  #lengthOf(entry: number): number {
    return headerBytes + this.#entries.readUInt16LE(entry) + this.#stateBytesOf(entry)
  }

  #insert(free: number, stateLength: number): void {
    this.#slots[free] = this.#append(stateLength) + 1
    this.#tags[free] = this.#keyTag
    this.#size++
    this.#generation++
    if (this.#size > this.#slots.length * 0.75) this.#doubleSlots()
  }

  /** Moves an entry to the end of the block, with more bytes for its state. */
  #move(slot: number, stateLength: number): void {
    this.#wasted += this.#lengthOf(this.#slots[slot]! - 1)
    this.#slots[slot] = this.#append(stateLength) + 1
  }

  /**
   * Writes the header of the entry whose key and state are already written. Returns its position in
   * `#entries`.
   */
  #append(stateLength: number): number {
    const entry = this.#end
    this.#entries.writeUInt16LE(this.#keyLength, entry)
    this.#entries.writeUInt32LE(stateLength, entry + 2)
    this.#end += headerBytes + this.#keyLength + stateLength
    return entry
  }

  /** Reallocates the block of entries so that `more` further bytes fit. */
  #reallocate(more: number): void {
    const capacity = Math.max(minBytes, Math.ceil((this.#end - this.#wasted + more) * 1.5))
    if (this.#wasted > 0) return this.#compact(capacity)
    const before = this.#entries
    this.#entries = Buffer.allocUnsafeSlow(capacity)
    before.copy(this.#entries, 0, 0, this.#end)
  }

  /** Copies the entries to a new block, without the wasted bytes. Entries keep their slots. */
  #compact(capacity: number): void {
    const before = this.#entries
    const after = Buffer.allocUnsafeSlow(capacity)
    let end = 0
    for (let slot = 0; slot < this.#slots.length; slot++) {
      const entry = this.#slots[slot]! - 1
      if (entry < 0) continue
      this.#slots[slot] = end + 1
      end += before.copy(after, end, entry, entry + this.#lengthOf(entry))
    }
    this.#entries = after
    this.#end = end
    this.#wasted = 0
  }

  /**
   * Doubles the slots. The loop follows the entries in memory order, for the processor's caches.
   */
  #doubleSlots(): void {
    if (this.#wasted > 0) this.#compact(this.#entries.length)
    this.#slots = new Uint32Array(this.#slots.length * 2)
    this.#tags = new Uint8Array(this.#slots.length)
    const mask = this.#slots.length - 1
    for (let entry = 0; entry < this.#end; entry += this.#lengthOf(entry)) {
      const hash = this.#hashOf(entry)
      let slot = this.#home(hash)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = entry + 1
      this.#tags[slot] = tagOf(hash)
    }
  }
}

/**
 * Returns the hash of a key. Kafka chooses partitions by murmur2, so the lowest bits of murmur2 can
 * be equal for all keys of a partition. The multiplication mixes all bits into the highest ones.
 */
const hashOf = (bytes: Uint8Array, start: number, end: number): number =>
  Math.imul(murmur2(bytes, start, end), 0x9e3779b1)

/**
 * Eight bits that do not decide the home slot (up to 2^20 slots), so keys with the same home slot
 * usually have different tags.
 */
const tagOf = (hash: number): number => (hash >>> 4) & 0xff
