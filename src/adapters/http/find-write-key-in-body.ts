import { writeKeyIn } from '../../core/message/batch.ts'
import type { BodyBuffer } from './body-buffer.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Finds the source of a request by the write key in its body, and limits the body until the source
 * is known.
 */
export interface WriteKeySearch {
  /** Maximum bytes of the body. The limit rises when the write key is found. */
  readonly limit: number
  /**
   * Call it when more bytes have arrived. If it returns a response, refuse the request with this
   * response.
   */
  onBytes(body: Pick<BodyBuffer, 'length' | 'beginning'>): HttpResponse | undefined
}

interface Deps {
  readonly maxBytes: number
  /** Checks the write key. If it returns a response, the request is refused with this response. */
  readonly onKey: (key: string) => HttpResponse | undefined
}

/**
 * A body that is still arriving is searched for its write key once, at this number of bytes. The
 * tracking API searches a smaller body when it is complete.
 */
const searchedBytes = 65_536
/**
 * Maximum bytes of a body without a write key in its first `searchedBytes`. SDKs often put the
 * write key after the batch, and send at most 512,000 bytes.
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
      const beginning = body.beginning(searchedBytes).toString()
      const key = writeKeyIn(beginning.replace(/^\ufeff/, ''))
      if (key === undefined) return undefined
      limit = maxBytes
      return onKey(key)
    },
  }
}
