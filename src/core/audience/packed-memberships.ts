import { murmur2 } from '../message/murmur2.ts'
import type { Membership } from './membership.ts'
import { packState, unpackState } from './packed-state.ts'

/** Before key and state of an entry: the key's length (2 bytes), and how many bytes the state may take (4). */
const headBytes = 6
/** Slots, of which at most three quarters are taken. A power of two. */
const fewestSlots = 16
const fewestBytes = 1_024
const longestKey = 65_535

/**
 * The memberships of one audience at one destination, by user: a hash table over one block of bytes, some 100 of them for a membership,
 * where a Map of objects takes four times as many and has the garbage collector look at each.
 */
export class PackedMemberships {
  /** Address of an entry + 1; 0: free. Linear probing. */
  #slots = new Uint32Array(fewestSlots)
  /** Of each slot some bits of the hash of what is there: who is looked for is nearly always told from others without a look at their keys. */
  #tags = new Uint8Array(fewestSlots)
  #entries = Buffer.allocUnsafeSlow(fewestBytes)
  /** Where the next entry goes. */
  #end = 0
  /** Bytes of entries that are gone. */
  #wasted = 0
  #size = 0
  /** Changes whenever an entry comes or goes. */
  #generation = 0
  #key = Buffer.allocUnsafeSlow(256)
  #keyLength = 0
  #keyTag = 0
  #state = Buffer.allocUnsafeSlow(256)

  get size(): number {
    return this.#size
  }

  /** What all of it takes in memory. */
  get bytes(): number {
    return this.#slots.byteLength + this.#tags.length + this.#entries.length + this.#key.length + this.#state.length
  }

  get(userId: string): Membership | undefined {
    const entry = this.#slots[this.#find(userId)]! - 1
    return entry < 0 ? undefined : unpackState(this.#entries, this.#stateOf(entry))
  }

  set(userId: string, state: Membership): void {
    const length = this.#pack(state)
    const slot = this.#find(userId)
    const entry = this.#slots[slot]! - 1
    if (entry < 0) return this.#insert(slot, length)
    if (length > this.#entries.readUInt32LE(entry + 2)) this.#move(slot, length)
    else this.#state.copy(this.#entries, this.#stateOf(entry), 0, length)
  }

  delete(userId: string): void {
    let free = this.#find(userId)
    const entry = this.#slots[free]! - 1
    if (entry < 0) return
    this.#wasted += this.#lengthOf(entry)
    this.#size--
    this.#generation++
    // Those behind it that were put off by it move up, so that a search may end at a free slot.
    const mask = this.#slots.length - 1
    for (let at = (free + 1) & mask; this.#slots[at] !== 0; at = (at + 1) & mask) {
      const home = this.#homeOf(this.#slots[at]! - 1)
      if (((at - home) & mask) < ((at - free) & mask)) continue
      this.#slots[free] = this.#slots[at]!
      this.#tags[free] = this.#tags[at]!
      free = at
    }
    this.#slots[free] = 0
    if (this.#wasted > this.#entries.length / 2) this.#compact(0)
  }

  /** Everybody there is. Meanwhile states may be replaced, but nobody may come or go. */
  *users(): IterableIterator<string> {
    const generation = this.#generation
    for (let slot = 0; slot < this.#slots.length; slot++) {
      if (generation !== this.#generation) throw new TypeError('somebody came or went during a walk')
      const entry = this.#slots[slot]! - 1
      if (entry >= 0) yield this.#entries.toString('utf8', entry + headBytes, this.#stateOf(entry))
    }
  }

  /** Slots that the most remote entry is from where its search begins. */
  longestSearch(): number {
    const mask = this.#slots.length - 1
    return this.#slots.reduce((most, address, slot) => {
      const distance = address === 0 ? 0 : (slot - this.#homeOf(address - 1)) & mask
      return Math.max(most, distance)
    }, 0)
  }

  /** The slot of a user, or the free one where they would go. Their key is the current one then. */
  #find(userId: string): number {
    const needed = userId.length * 3
    if (needed > this.#key.length) this.#key = Buffer.allocUnsafeSlow(needed)
    this.#keyLength = this.#key.write(userId)
    if (this.#keyLength > longestKey)
      throw new RangeError(`a user id of ${this.#keyLength} bytes: ${longestKey} are possible`)
    return this.#findKey()
  }

  #findKey(): number {
    const mask = this.#slots.length - 1
    const hash = hashOf(this.#key.subarray(0, this.#keyLength))
    this.#keyTag = tagOf(hash)
    let slot = this.#home(hash)
    for (let entry = this.#slots[slot]!; entry !== 0 && !this.#isAt(slot, entry - 1); entry = this.#slots[slot]!)
      slot = (slot + 1) & mask
    return slot
  }

  /** Whether the current key is that of an entry, which is in this slot. */
  #isAt(slot: number, entry: number): boolean {
    const from = entry + headBytes
    return (
      this.#tags[slot] === this.#keyTag &&
      this.#entries.readUInt16LE(entry) === this.#keyLength &&
      this.#entries.compare(this.#key, 0, this.#keyLength, from, from + this.#keyLength) === 0
    )
  }

  #hashOf(entry: number): number {
    return hashOf(this.#entries.subarray(entry + headBytes, this.#stateOf(entry)))
  }

  #homeOf(entry: number): number {
    return this.#home(this.#hashOf(entry))
  }

  /** The slot where a search begins: the highest bits. */
  #home(hash: number): number {
    return hash >>> (Math.clz32(this.#slots.length) + 1)
  }

  #stateOf(entry: number): number {
    return entry + headBytes + this.#entries.readUInt16LE(entry)
  }

  #lengthOf(entry: number): number {
    return headBytes + this.#entries.readUInt16LE(entry) + this.#entries.readUInt32LE(entry + 2)
  }

  #pack(state: Membership): number {
    let length = packState(state, this.#state)
    while (length === undefined) {
      this.#state = Buffer.allocUnsafeSlow(this.#state.length * 2)
      length = packState(state, this.#state)
    }
    return length
  }

  #insert(free: number, stateLength: number): void {
    this.#size++
    this.#generation++
    const isFull = this.#size > this.#slots.length * 0.75
    if (isFull) this.#doubleSlots()
    const entry = this.#append(stateLength)
    const slot = isFull ? this.#findKey() : free
    this.#slots[slot] = entry + 1
    this.#tags[slot] = this.#keyTag
  }

  /** Gives an entry more room, at the end. */
  #move(slot: number, stateLength: number): void {
    const entry = this.#append(stateLength)
    this.#wasted += this.#lengthOf(this.#slots[slot]! - 1)
    this.#slots[slot] = entry + 1
  }

  /** Writes an entry of the current key and state at the end. What is there may get other addresses, but keeps its slots. */
  #append(stateLength: number): number {
    const length = headBytes + this.#keyLength + stateLength
    if (this.#end + length > this.#entries.length) this.#compact(length)
    const entry = this.#end
    this.#entries.writeUInt16LE(this.#keyLength, entry)
    this.#entries.writeUInt32LE(stateLength, entry + 2)
    this.#key.copy(this.#entries, entry + headBytes, 0, this.#keyLength)
    this.#state.copy(this.#entries, entry + headBytes + this.#keyLength, 0, stateLength)
    this.#end += length
    return entry
  }

  /** Leaves out what is gone, and makes room for `more` bytes and for half as much again as there is then. */
  #compact(more: number): void {
    const before = this.#entries
    const after = Buffer.allocUnsafeSlow(Math.max(fewestBytes, Math.ceil((this.#end - this.#wasted + more) * 1.5)))
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

  #doubleSlots(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    this.#tags = new Uint8Array(before.length * 2)
    const mask = this.#slots.length - 1
    for (const address of before) {
      if (address === 0) continue
      const hash = this.#hashOf(address - 1)
      let slot = this.#home(hash)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = address
      this.#tags[slot] = tagOf(hash)
    }
  }
}

/**
 * All keys of a partition have the same remainder of their hash by the number of partitions, which leaves the lowest bits the same: they are
 * mixed once more.
 */
const hashOf = (key: Uint8Array): number => Math.imul(murmur2(key), 0x9e3779b1)

/** Other bits than those that choose the slot of all but very large tables. */
const tagOf = (hash: number): number => (hash >>> 4) & 0xff
