import type { BodyMemory } from '../../core/collector/tracking-api.ts'

/**
 * The memory for the chunks of a body. `canEverHold` says whether a body fits if no other request
 * holds memory. Without `canEverHold`, every body fits.
 */
export type ChunkMemory = Pick<BodyMemory, 'take'> & Partial<Pick<BodyMemory, 'canEverHold'>>

/**
 * `too_large`: the body exceeds its limit. `no_memory`: other requests use the memory now.
 * `never_fits`: the body needs more memory than one request may ever use.
 */
type StoreResult = 'kept' | 'too_large' | 'no_memory' | 'never_fits'

interface StoreOptions {
  /** Maximum bytes of the body. Above it, `add` returns `too_large`. */
  readonly limit: number
  readonly memory: ChunkMemory
  /** The total bytes, if known from Content-Length. */
  readonly expected?: number | undefined
}

/**
 * Growth factor of the capacity. Above `firstBytes`, the capacity is at most 1.25 times the bytes
 * that have arrived, and even a large body has at most a few dozen parts.
 */
const growth = 1.25
/**
 * Bytes of the first part, unless the first chunk is larger or Content-Length is smaller. A large
 * Content-Length must not allocate memory before the body arrives.
 */
const firstBytes = 16_384

/**
 * Collects a body in parts. Keeping chunks of one byte would take a hundred times the size of the
 * body, and one growing buffer would leave garbage.
 */
export class BodyBuffer {
  readonly #options: StoreOptions
  readonly #parts: Buffer[] = []
  /**
   * The body, if it arrived in one chunk. This buffer belongs to Node, so `free` must not free it.
   */
  #piece: Buffer | undefined
  /** Bytes of all parts. */
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
      // Most bodies arrive in one chunk, which is kept without a copy.
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

  /** At most the first `bytes` bytes of the body. */
  beginning(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#parts
    const end = Math.min(bytes, this.#length)
    return end <= first.length ? first.subarray(0, end) : Buffer.concat(this.#parts, end)
  }

  /** The whole body. Call it only after the last chunk was added. */
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
   * Frees the memory of the body immediately. V8 would free it too late: it collects garbage when
   * its own heap grows, but most buffers are outside of this heap.
   */
  free(): void {
    for (const part of this.#parts.splice(0)) {
      // A buffer that shares its memory with other buffers must not be freed. The result of
      // `Buffer.concat` can be in Node's pool for small buffers.
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
