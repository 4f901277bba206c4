import type { BodyMemory, TrackingApi } from '../../core/collector/tracking-api.ts'

/** The part of the memory budget for request bodies that one request has reserved, in bytes. */
export interface Reservation {
  /**
   * Reserves more bytes. If the budget has no room for them, reserves nothing and returns false.
   * The caller must then refuse the body.
   */
  take(bytes: number): boolean
  /** Returns all bytes to the budget. Further calls do nothing. */
  release(): void
}

export function createReservation(api: Pick<TrackingApi, 'reserve' | 'release'>): Reservation {
  let taken = 0
  return {
    take(bytes) {
      const granted = api.reserve(bytes)
      if (granted) taken += bytes
      return granted
    },
    release() {
      if (taken > 0) api.release(taken)
      taken = 0
    },
  }
}

/**
 * The memory for the chunks of a body. `canEverHold` says whether `take` could succeed if no other
 * request held memory. Without `canEverHold`, a failed `take` always means that other requests use
 * the memory.
 */
export type ChunkMemory = Pick<BodyMemory, 'take'> & Partial<Pick<BodyMemory, 'canEverHold'>>

/**
 * Whether a chunk of a body is kept. `too_large`: the body has more bytes than its limit.
 * `no_memory`: other requests use the memory at present. `never_fits`: the body needs more memory
 * than one request may use.
 */
type StoreResult = 'kept' | 'too_large' | 'no_memory' | 'never_fits'

interface StoreOptions {
  /**
   * Maximum bytes of the body. Above it, `BodyBuffer.add` stores nothing and returns `too_large`.
   */
  readonly limit: number
  readonly memory: ChunkMemory
  /** The total number of bytes, when it is known from Content-Length. */
  readonly expected?: number | undefined
}

/**
 * Growth factor of the capacity of a `BodyBuffer`. For a body above `firstBytes`, the capacity is
 * at most 25 % larger than the bytes that have arrived. Even a large body has at most a few dozen
 * parts.
 */
const growth = 1.25
/**
 * Size of the first part in bytes, unless the first chunk is larger or Content-Length is smaller. A
 * larger Content-Length does not allocate more memory in advance: further parts are allocated as
 * the bytes arrive.
 */
const firstBytes = 16_384

/**
 * Collects the chunks of a body in parts that are allocated as the body grows. The chunks
 * themselves are not kept, because a body in chunks of one byte would take a hundred times its size
 * in memory. The parts are not copied into a larger buffer during the growth, because the discarded
 * buffers would be garbage of four times the body's size.
 */
export class BodyBuffer {
  readonly #options: StoreOptions
  readonly #parts: Buffer[] = []
  /** The body, if it arrived in one chunk. It is a buffer of Node, which `free` must not free. */
  #piece: Buffer | undefined
  /** Total size of all parts, in bytes. */
  #capacity = 0
  #length = 0

  constructor(options: StoreOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): StoreResult {
    const { limit, expected } = this.#options
    const length = this.#length + piece.length
    if (piece.length === 0) return 'kept'
    if (length > limit) return 'too_large'
    if (piece.length === expected) {
      // Most bodies arrive in one chunk. That chunk is kept, without a copy.
      const taken = this.#take(length)
      if (taken !== 'kept') return taken
      this.#append(piece)
      this.#piece = piece
    } else {
      const last = this.#parts.at(-1)
      const copied = last === undefined ? 0 : piece.copy(last, last.length - (this.#capacity - this.#length))
      if (copied < piece.length) {
        const grown = this.#grow(length)
        if (grown !== 'kept') return grown
        piece.copy(this.#parts.at(-1) as Buffer, 0, copied)
      }
    }
    this.#length = length
    return 'kept'
  }

  /** The first bytes of the body, at most `bytes`. */
  beginning(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#parts
    const end = Math.min(bytes, this.#length)
    return end <= first.length ? first.subarray(0, end) : Buffer.concat(this.#parts, end)
  }

  /** Returns the whole body. Call it only after the last chunk was added. */
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
   * Frees the memory immediately, without waiting for garbage collection. The size of V8's own heap
   * decides when a collection starts, and most buffers are outside of this heap. Without this
   * method, the buffers of aborted bodies could grow to several times the memory budget. A body
   * that arrived in one chunk is in a buffer of Node, which is not freed here.
   */
  free(): void {
    for (const part of this.#parts.splice(0)) {
      // A buffer that shares its memory with other buffers must not be freed. The result of
      // `Buffer.concat` can be in the pool that Node uses for small buffers.
      const isAlone = part.length === part.buffer.byteLength
      if (isAlone && part !== this.#piece) (part.buffer as ArrayBuffer).transfer(0)
    }
    this.#length = 0
    this.#capacity = 0
  }

  #append(part: Buffer): void {
    this.#parts.push(part)
    this.#capacity += part.length
  }

  #take(bytes: number): StoreResult {
    const { memory } = this.#options
    if (memory.take(bytes)) return 'kept'
    return memory.canEverHold?.(bytes) === false ? 'never_fits' : 'no_memory'
  }

  #grow(needed: number): StoreResult {
    const { limit, expected = limit } = this.#options
    const wanted = Math.min(
      Math.max(needed, Math.ceil(growth * this.#capacity), firstBytes),
      Math.max(needed, expected),
    )
    const more = wanted - this.#capacity
    const taken = this.#take(more)
    if (taken === 'kept') this.#append(Buffer.allocUnsafeSlow(more))
    return taken
  }
}
