import type { TrackingApi } from '../../core/collector/tracking-api.ts'

/** The memory that one request has taken. */
export interface Reservation {
  /** False: not to be had. */
  take(bytes: number): boolean
  /** Gives all of it back; once. */
  giveBack(): void
}

export function createReservation(api: Pick<TrackingApi, 'reserve' | 'release'>): Reservation {
  let taken = 0
  return {
    take(bytes) {
      const granted = api.reserve(bytes)
      if (granted) taken += bytes
      return granted
    },
    giveBack() {
      if (taken > 0) api.release(taken)
      taken = 0
    },
  }
}

interface StoreOptions {
  /** Most bytes that may be kept. */
  readonly limit: number
  readonly memory: Pick<Reservation, 'take'>
  /** How many will come, where that is known. */
  readonly expected?: number | undefined
}

/** A body that grows by this factor holds at most a quarter more than it needs, in some dozens of parts. */
const growth = 1.25
/** A sender gets no more than this on its word: the rest is reserved while the bytes come in. */
const firstBytes = 16_384

/**
 * Bytes that come piece by piece, in parts that are allocated as it grows. The pieces themselves are not kept: a body sent in
 * pieces of one byte would cost a hundred times its size. Nor is it copied to grow: that would leave four times as much behind.
 */
export class ByteStore {
  readonly #options: StoreOptions
  readonly #parts: Buffer[] = []
  /** Of all parts. */
  #capacity = 0
  #length = 0

  constructor(options: StoreOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): 'kept' | 'too_large' | 'no_memory' {
    const { limit, memory, expected } = this.#options
    const length = this.#length + piece.length
    if (piece.length === 0) return 'kept'
    if (length > limit) return 'too_large'
    if (piece.length === expected) {
      // Nearly every body comes in one piece, which then needs no copy.
      if (!memory.take(length)) return 'no_memory'
      this.#append(piece)
    } else {
      const last = this.#parts.at(-1)
      const copied = last === undefined ? 0 : piece.copy(last, last.length - (this.#capacity - this.#length))
      if (copied < piece.length) {
        if (!this.#grow(length)) return 'no_memory'
        piece.copy(this.#parts.at(-1) as Buffer, 0, copied)
      }
    }
    this.#length = length
    return 'kept'
  }

  /** The first bytes, at most so many. */
  beginning(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#parts
    const end = Math.min(bytes, this.#length)
    return end <= first.length ? first.subarray(0, end) : Buffer.concat(this.#parts, end)
  }

  /** All bytes; nothing is added afterwards. */
  bytes(): Buffer {
    if (this.#parts.length > 1) {
      const whole = Buffer.concat(this.#parts, this.#length)
      this.free()
      this.#append(whole)
      this.#length = whole.length
    }
    return this.beginning(this.#length)
  }

  /**
   * Frees the memory at once, of what nobody reads any more: V8 looks at its own heap, in which buffers hardly count, and may let
   * those of bodies that were broken off become several times what the budget counts. A body in one piece, which is not ours, is left.
   */
  free(): void {
    const { expected } = this.#options
    for (const { buffer, length } of this.#parts.splice(0)) if (length !== expected) (buffer as ArrayBuffer).transfer(0)
    this.#length = 0
    this.#capacity = 0
  }

  #append(part: Buffer): void {
    this.#parts.push(part)
    this.#capacity += part.length
  }

  #grow(needed: number): boolean {
    const { limit, memory, expected = limit } = this.#options
    const wanted = Math.min(
      Math.max(needed, Math.ceil(growth * this.#capacity), firstBytes),
      Math.max(needed, expected),
    )
    const more = wanted - this.#capacity
    if (!memory.take(more)) return false
    this.#append(Buffer.allocUnsafeSlow(more))
    return true
  }
}
