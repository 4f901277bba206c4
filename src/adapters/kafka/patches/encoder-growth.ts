import { internal } from '../internals.ts'

interface Encoder {
  buf: Buffer
  offset: number
}

/**
 * kafkajs wraps a request six times, each time into a buffer that it doubles until all fits, and fills with zeros first each time. Here it is
 * made of the right size at once, and of nothing: what is handed on ends at `offset`.
 */
export function cureSlowGrowth(): void {
  const { prototype } = internal<{ prototype: { ensureAvailable(length: number): void } }>('protocol/encoder')
  prototype.ensureAvailable = function (this: Encoder, length): void {
    const needed = this.offset + length
    if (needed <= this.buf.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buf.length * 2))
    this.buf.copy(larger, 0, 0, this.offset)
    this.buf = larger
  }
}
