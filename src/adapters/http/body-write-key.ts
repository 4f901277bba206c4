import { writeKeyIn } from '../../core/message/batch.ts'
import type { BodyBuffer } from './body-memory.ts'
import type { HttpResponse } from './responses.ts'

/**
 * Finds the source of a body whose write key is not in the headers or the query, and limits the
 * size of the body until the source is known.
 */
export interface WriteKeySearch {
  /** The maximum size of the body at present, in bytes. */
  readonly limit: number
  /** Called with the body as it grows. A returned response refuses the request. */
  onBytes(body: Pick<BodyBuffer, 'length' | 'beginning'>): HttpResponse | undefined
}

interface Deps {
  readonly maxBytes: number
  /** Checks a key that was found. A returned response refuses the request. */
  readonly onKey: (key: string) => HttpResponse | undefined
}

/**
 * The body is searched for its key once, when it has this many bytes. `accept` searches a smaller
 * body when it is complete.
 */
const searchedBytes = 65_536
/**
 * Maximum size of a body whose beginning does not name a source. SDKs that send the key in the
 * body, often after the batch, send at most 512,000 bytes. The limit is about twice this size.
 */
const maxKeylessBytes = 1_048_576

export function createWriteKeySearch({ maxBytes, onKey }: Deps): WriteKeySearch {
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
