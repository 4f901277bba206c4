import { hash } from 'node:crypto'

/** The bytes that SHA-1 works on at a time. */
const blockBytes = 64
const digestBytes = 20

/**
 * HMAC-SHA1 (RFC 2104) of many texts with one key. Node's own `createHmac` makes a stream object for each text, which takes three
 * times as long as the two hashes themselves; its results are the same, as a property test compares.
 */
export class HmacSha1 {
  /** The padded key, and behind it room for a text. */
  #inner: Buffer
  /** The padded key, and behind it the inner digest. */
  readonly #outer: Buffer

  constructor(key: string) {
    const bytes = Buffer.from(key)
    const block = Buffer.alloc(blockBytes)
    const short = bytes.length > blockBytes ? hash('sha1', bytes, 'buffer') : bytes
    short.copy(block)
    this.#inner = Buffer.from(block.map(byte => byte ^ 0x36))
    this.#outer = Buffer.concat([block.map(byte => byte ^ 0x5c), Buffer.alloc(digestBytes)])
  }

  /** Lower-case hex of the HMAC of the text's UTF-8 bytes. */
  hex(text: string): string {
    // UTF-8 takes at most three bytes for what is one unit of a string.
    const most = blockBytes + text.length * 3
    if (this.#inner.length < most) this.#inner = Buffer.concat([this.#inner.subarray(0, blockBytes)], most)
    const end = blockBytes + this.#inner.write(text, blockBytes)
    this.#outer.write(hash('sha1', this.#inner.subarray(0, end), 'binary'), blockBytes, 'binary')
    return hash('sha1', this.#outer, 'hex')
  }
}
