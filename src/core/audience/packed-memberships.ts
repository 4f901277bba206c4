import { murmur2 } from '../message/murmur2.ts'
import type { Membership } from './membership.ts'
import { mostStateBytes, packState, positionAt, unpackState } from './packed-state.ts'

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
  /** Of the user who was looked for last: their key stands where the key of the next entry goes. */
  #keyLength = 0
  #keyTag = 0

  get size(): number {
    return this.#size
  }

  /** What all of it takes in memory. */
  get bytes(): number {
    return this.#slots.byteLength + this.#tags.length + this.#entries.length
  }

  get(userId: string): Membership | undefined {
    const entry = this.#slots[this.#find(userId)]! - 1
    return entry < 0 ? undefined : unpackState(this.#entries, this.#stateOf(entry))
  }

  /** Offset of the last input that changed a user; undefined: nobody is known. Cheaper than the whole state. */
  positionOf(userId: string): number | undefined {
    const entry = this.#slots[this.#find(userId)]! - 1
    return entry < 0 ? undefined : positionAt(this.#entries, this.#stateOf(entry))
  }

  set(userId: string, state: Membership): void {
    const slot = this.#find(userId)
    const next = this.#end + headBytes + this.#keyLength
    const length = packState(state, this.#entries, next)
    if (length === undefined) {
      this.#makeRoom(headBytes + this.#keyLength + mostStateBytes(state))
      return this.set(userId, state)
    }
    const entry = this.#slots[slot]! - 1
    if (entry < 0) this.#insert(slot, length)
    else if (length > this.#roomOf(entry)) this.#move(slot, length)
    else this.#entries.copyWithin(this.#stateOf(entry), next, next + length)
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
    if (this.#wasted > this.#entries.length / 2) this.#makeRoom(0)
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

  /** The slot of a user, or the free one where they would go. Writes their key where that of the next entry goes. */
  #find(userId: string): number {
    const most = headBytes + userId.length * 3
    if (this.#end + most > this.#entries.length) this.#makeRoom(most)
    const from = this.#end + headBytes
    this.#keyLength = this.#entries.write(userId, from)
    if (this.#keyLength > longestKey)
      throw new RangeError(`a user id of ${this.#keyLength} bytes: ${longestKey} are possible`)
    const hash = hashOf(this.#entries, from, from + this.#keyLength)
    this.#keyTag = tagOf(hash)
    const mask = this.#slots.length - 1
    let slot = this.#home(hash)
    for (let entry = this.#slots[slot]!; entry !== 0 && !this.#isAt(slot, entry - 1); entry = this.#slots[slot]!)
      slot = (slot + 1) & mask
    return slot
  }

  /** Whether the user who is looked for has this entry, which is in this slot. */
  #isAt(slot: number, entry: number): boolean {
    if (this.#tags[slot] !== this.#keyTag || this.#entries.readUInt16LE(entry) !== this.#keyLength) return false
    const key = this.#end + headBytes
    const from = entry + headBytes
    return this.#entries.compare(this.#entries, key, key + this.#keyLength, from, from + this.#keyLength) === 0
  }

  #hashOf(entry: number): number {
    return hashOf(this.#entries, entry + headBytes, this.#stateOf(entry))
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

  #roomOf(entry: number): number {
    return this.#entries.readUInt32LE(entry + 2)
  }

  #lengthOf(entry: number): number {
    return headBytes + this.#entries.readUInt16LE(entry) + this.#roomOf(entry)
  }

  #insert(free: number, stateLength: number): void {
    this.#slots[free] = this.#append(stateLength) + 1
    this.#tags[free] = this.#keyTag
    this.#size++
    this.#generation++
    if (this.#size > this.#slots.length * 0.75) this.#doubleSlots()
  }

  /** Gives an entry more room, at the end. */
  #move(slot: number, stateLength: number): void {
    this.#wasted += this.#lengthOf(this.#slots[slot]! - 1)
    this.#slots[slot] = this.#append(stateLength) + 1
  }

  /** Makes an entry of the key and the state that stand where the next one goes. */
  #append(stateLength: number): number {
    const entry = this.#end
    this.#entries.writeUInt16LE(this.#keyLength, entry)
    this.#entries.writeUInt32LE(stateLength, entry + 2)
    this.#end += headBytes + this.#keyLength + stateLength
    return entry
  }

  /** For `more` bytes behind the last entry, and for half as much again as there is then. */
  #makeRoom(more: number): void {
    const room = Math.max(fewestBytes, Math.ceil((this.#end - this.#wasted + more) * 1.5))
    if (this.#wasted > 0) return this.#compact(room)
    const before = this.#entries
    this.#entries = Buffer.allocUnsafeSlow(room)
    before.copy(this.#entries, 0, 0, this.#end)
  }

  /** Leaves out what is gone. Entries get other addresses, but keep their slots. */
  #compact(room: number): void {
    const before = this.#entries
    const after = Buffer.allocUnsafeSlow(room)
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

  /** Goes through the entries as they lie in memory: from slot to slot, nearly every look would miss the processor's caches. */
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
 * All keys of a partition have the same remainder of their hash by the number of partitions, which leaves the lowest bits the same: they are
 * mixed once more.
 */
const hashOf = (bytes: Uint8Array, start: number, end: number): number =>
  Math.imul(murmur2(bytes, start, end), 0x9e3779b1)

/** Other bits than those that choose the slot of all but very large tables. */
const tagOf = (hash: number): number => (hash >>> 4) & 0xff
