import { createGunzip } from 'node:zlib'
import { ByteStore, type Reservation } from './memory.ts'

/** RFC 1952: whatever the headers say, these two bytes are how gzip begins, and no JSON does. */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

export type Unpacked =
  | { readonly kind: 'unpacked'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'no_memory' }
  | { readonly kind: 'corrupt'; readonly detail: string }

const pieceBytes = 65_536

/** Unpacks gzip, off the main thread. Ends at the first byte over the limit: a bomb costs no more than an honest body. */
export function gunzip(packed: Buffer, limit: number, memory: Pick<Reservation, 'take'>): Promise<Unpacked> {
  const store = new ByteStore({ limit, memory })
  const stream = createGunzip({ chunkSize: pieceBytes })
  return new Promise(resolve => {
    stream.on('data', (piece: Buffer) => {
      const kind = store.add(piece)
      if (kind === 'kept') return
      stream.destroy()
      resolve({ kind })
    })
    stream.on('end', () => resolve({ kind: 'unpacked', bytes: store.bytes() }))
    stream.on('error', error => resolve({ kind: 'corrupt', detail: error.message }))
    stream.end(packed)
  })
}
