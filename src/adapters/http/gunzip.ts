import { createGunzip } from 'node:zlib'
import type { Answer } from './answers.ts'
import { ByteStore, type Reservation } from './memory.ts'
import type { SenderProbe } from './sender-probe.ts'

/** RFC 1952: whatever the headers say, these two bytes are how gzip begins, and no JSON does. */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

export type Unpacked =
  | { readonly kind: 'unpacked'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'no_memory' | 'ratio' }
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'corrupt'; readonly detail: string }

const pieceBytes = 65_536

/**
 * Unpacked bytes for each packed one. JSON with an id in each message stays far below; batches of SDKs have at most half a
 * megabyte and are never judged by it.
 */
const maxRatio = { factor: 100, above: 524_288 } as const

interface Limits {
  /** Unpacked bytes, as of now. */
  readonly limit: number
  /** Called after each piece with all bytes so far; an answer ends it. */
  onBytes?: SenderProbe['onBytes']
}

/** Unpacks gzip, off the main thread. Ends at the first byte over the limit: a bomb costs no more than an honest body. */
export function gunzip(packed: Buffer, limits: Limits, memory: Pick<Reservation, 'take'>): Promise<Unpacked> {
  const store = new ByteStore({
    get limit() {
      return limits.limit
    },
    memory,
  })
  const stream = createGunzip({ chunkSize: pieceBytes })
  return new Promise(resolve => {
    const end = (unpacked: Unpacked): void => {
      stream.destroy()
      store.free()
      resolve(unpacked)
    }
    stream.on('data', (piece: Buffer) => {
      const kind = store.add(piece)
      if (kind !== 'kept') return end({ kind })
      if (store.length > maxRatio.above && store.length > maxRatio.factor * packed.length) return end({ kind: 'ratio' })
      const answer = limits.onBytes?.(store)
      if (answer !== undefined) end({ kind: 'refused', answer })
    })
    stream.on('end', () => resolve({ kind: 'unpacked', bytes: store.bytes() }))
    stream.on('error', error => resolve({ kind: 'corrupt', detail: error.message }))
    stream.end(packed)
  })
}
