import { writeKeyIn } from '../../core/message/batch.ts'
import type { BodyBuffer } from './body-memory.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Finds the source of a request whose write key is in the body, and not in the headers or the
 * query. Limits the size of the body until the source is known.
 */
export interface WriteKeySearch {
  /**
   * Maximum bytes of the body at present. The limit rises when the write key is found.
   */
  readonly limit: number
  /**
   * Call this method whenever more bytes of the body have arrived. If it returns a response, the
   * caller must refuse the request with this response.
   */
  onBytes(body: Pick<BodyBuffer, 'length' | 'beginning'>): HttpResponse | undefined
}

interface Deps {
  readonly maxBytes: number
  /**
   * Checks a write key that was found in the body. If it returns a response, the request is refused
   * with this response.
   */
  readonly onKey: (key: string) => HttpResponse | undefined
}

/**
 * Size in bytes at which a body that is still arriving is searched for its write key. This search
 * happens once. A body that stays smaller is searched when it is complete, by `accept` of the
 * tracking API.
 */
const searchedBytes = 65_536
/**
 * Maximum bytes of a body without a write key in its first `searchedBytes`. SDKs that send the key
 * in the body, often after the batch, send at most 512,000 bytes. The limit is about twice this
 * size.
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
