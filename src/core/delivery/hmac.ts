import { hash } from 'node:crypto'

/** The bytes that SHA-1 works on at a time. */
const blockBytes = 64
const digestBytes = 20

/** Padded key and message, and padded key and inner digest: one place each for all keys. */
let hashed = Buffer.alloc(4_096)
const outer = Buffer.alloc(blockBytes + digestBytes)

/**
 * HMAC-SHA1 (RFC 2104) of many messages with one key. Node's own `createHmac` makes a stream object for each of them, which takes three
 * times as long as the two hashes themselves; its results are the same, as a property test compares.
 */
export class HmacSha1 {
  /** Padded for the inner hash, and behind it for the outer one: with a thousand keys each Buffer more is one more that is far away. */
  readonly #keys: Buffer

  constructor(key: string) {
    const bytes = Buffer.from(key)
    const block = Buffer.alloc(blockBytes)
    const short = bytes.length > blockBytes ? hash('sha1', bytes, 'buffer') : bytes
    short.copy(block)
    this.#keys = Buffer.concat([block.map(byte => byte ^ 0x36), block.map(byte => byte ^ 0x5c)])
  }

  /** Lower-case hex. */
  hex(message: Buffer): string {
    const end = blockBytes + message.length
    if (hashed.length < end) hashed = Buffer.alloc(end * 2)
    this.#keys.copy(hashed, 0, 0, blockBytes)
    message.copy(hashed, blockBytes)
    this.#keys.copy(outer, 0, blockBytes)
    outer.write(hash('sha1', hashed.subarray(0, end), 'binary'), blockBytes, 'binary')
    return hash('sha1', outer, 'hex')
  }
}
