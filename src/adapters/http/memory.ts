import type { TrackingApi } from '../../core/tracking-api.ts'

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

/** A buffer that grows by this factor copies each byte at most five times, and is at most a quarter larger than its content. */
const growth = 1.25
/** A sender gets no more than this on its word: the rest is reserved while the bytes come in. */
const firstBytes = 16_384

/**
 * Bytes that come piece by piece, in one buffer that grows. The pieces themselves are not kept: a body sent in pieces of
 * one byte would cost a hundred times its size.
 */
export class ByteStore {
  readonly #options: StoreOptions
  #buffer: Buffer = Buffer.alloc(0)
  #length = 0

  constructor(options: StoreOptions) {
    this.#options = options
  }

  add(piece: Buffer): 'kept' | 'too_large' | 'no_memory' {
    const { limit, memory, expected } = this.#options
    const length = this.#length + piece.length
    if (piece.length === 0) return 'kept'
    if (length > limit) return 'too_large'
    if (piece.length === expected) {
      // Nearly every body comes in one piece, which then needs no copy.
      if (!memory.take(length)) return 'no_memory'
      this.#buffer = piece
    } else {
      if (length > this.#buffer.length && !this.#grow(length)) return 'no_memory'
      piece.copy(this.#buffer, this.#length)
    }
    this.#length = length
    return 'kept'
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #grow(needed: number): boolean {
    const { limit, memory, expected = limit } = this.#options
    const wanted = Math.min(
      Math.max(needed, Math.ceil(growth * this.#buffer.length), firstBytes),
      Math.max(needed, expected),
    )
    if (!memory.take(wanted - this.#buffer.length)) return false
    const grown = Buffer.allocUnsafe(wanted)
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
    return true
  }
}
