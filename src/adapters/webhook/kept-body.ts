import type { CallResult, ResponseBody } from '../../core/webhook-ports.ts'

/** Keeps the first bytes of a response's body. */
export class KeptBody {
  readonly #limit: number
  readonly #contentEncoding: string | undefined
  readonly #chunks: Buffer[] = []
  #length = 0
  /** Set by the transport when the whole body has arrived. */
  isComplete = false

  constructor(limit: number, contentEncoding: string | string[] | undefined) {
    this.#limit = limit
    this.#contentEncoding = Array.isArray(contentEncoding) ? contentEncoding.join(', ') : contentEncoding
  }

  add(chunk: Buffer): void {
    // A copy, because the HTTP client may reuse the memory of the chunk.
    if (this.#length < this.#limit) this.#chunks.push(Buffer.from(chunk.subarray(0, this.#limit - this.#length)))
    this.#length += chunk.length
  }

  /** Returns the result of the request, with this body if the result is a response. */
  addTo(result: CallResult): CallResult {
    return result.kind === 'answered' ? { ...result, body: this.#body } : result
  }

  get #body(): ResponseBody {
    const isTruncated = !this.isComplete || this.#length > this.#limit
    return { bytes: Buffer.concat(this.#chunks), isTruncated, contentEncoding: this.#contentEncoding }
  }
}
