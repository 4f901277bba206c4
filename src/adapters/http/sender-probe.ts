import { writeKeyIn } from '../../core/message/batch.ts'
import type { Answer } from './answers.ts'
import type { ByteStore } from './memory.ts'

/** Finds the source of a body that no key in the headers or the query names, and limits the body until it is known. */
export interface SenderProbe {
  /** Bytes that the body may have, as of now. */
  readonly limit: number
  /** Called with the body as it grows. An answer refuses its sender. */
  onBytes(body: Pick<ByteStore, 'length' | 'beginning'>): Answer | undefined
}

interface Deps {
  readonly maxBytes: number
  /** Judges a key that was found; an answer refuses it. */
  readonly onKey: (key: string) => Answer | undefined
}

/** A body is searched for its key once, when it has this many bytes; a smaller one when it is complete. */
const searchedBytes = 65_536
/**
 * Maximum size of a body whose beginning does not name a source. SDKs that send their key in the body, often behind the batch, make
 * batches of at most 512,000 bytes; this is twice as much.
 */
const maxKeylessBytes = 1_048_576

export function createSenderProbe({ maxBytes, onKey }: Deps): SenderProbe {
  let limit = Math.min(maxBytes, maxKeylessBytes)
  let isSearched = false
  return {
    get limit() {
      return limit
    },
    onBytes(body) {
      if (isSearched || body.length < searchedBytes) return undefined
      isSearched = true
      const key = writeKeyIn(body.beginning(searchedBytes).toString())
      if (key === undefined) return undefined
      limit = maxBytes
      return onKey(key)
    },
  }
}
