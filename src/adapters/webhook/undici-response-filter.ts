import type { Socket } from 'node:net'
import { maxAnswerBytes, maxHeadBytes, maxInterimResponses, ResponseTooLong } from './http-client-limits.ts'

/** The length of `HTTP/1.1 103`: the bytes of a head that show its status. */
const statusEnd = 12
const tooLong = 'the headers of an interim (1xx) response are too long'
const versionStart = 'HTTP/1.'

/**
 * Filters the received bytes before undici's parser reads them:
 * - Removes interim responses: the parser rejects every `100`, but a client must accept it (RFC
 *   9110 15.2).
 * - Limits the size of the whole response: the parser does not limit reason phrases and chunk
 *   extensions.
 */
export class ResponseFilter {
  readonly #socket: Socket
  #received = 0
  #isHeadDue = false
  #interim = 0
  /**
   * The bytes of an incomplete head whose status is unknown, or which belongs to an interim
   * response. Other incomplete heads go to undici's parser.
   */
  #held: Buffer | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    // undici calls `read` to get the next bytes.
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null
    socket.read = (size?: number) => {
      for (let chunk = read(size); chunk !== null; chunk = read(size)) {
        const passed = this.#pass(chunk)
        if (passed !== undefined) return passed
      }
      return null
    }
  }

  /** Called when a request is sent. All later bytes belong to the response. */
  expectAnswer(): void {
    this.#received = 0
    this.#isHeadDue = true
    this.#interim = 0
    this.#held = undefined
  }

  /** Whether no byte has arrived since `expectAnswer` was called. */
  get isUntouched(): boolean {
    return this.#received === 0
  }

  #pass(chunk: Buffer): Buffer | undefined {
    this.#received += chunk.length
    if (this.#received > maxAnswerBytes) return this.#cutOff(`the response has more than ${maxAnswerBytes} bytes`)
    return this.#isHeadDue ? this.#withoutInterim(chunk) : chunk
  }

  #withoutInterim(chunk: Buffer): Buffer | undefined {
    let bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = undefined
    while (isInterim(bytes)) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return this.#hold(bytes)
      if (end > maxHeadBytes) return this.#cutOff(tooLong)
      if (++this.#interim > maxInterimResponses)
        return this.#cutOff(`the endpoint sent more than ${maxInterimResponses} interim (1xx) responses`)
      bytes = bytes.subarray(end + 4)
    }
    if (mayBecomeHead(bytes)) return this.#hold(bytes)
    this.#isHeadDue = false
    return bytes
  }

  #hold(bytes: Buffer): undefined {
    if (bytes.length > maxHeadBytes) return this.#cutOff(tooLong)
    this.#held = bytes
  }

  #cutOff(why: string): undefined {
    this.#socket.destroy(new ResponseTooLong(why))
  }
}

/**
 * Whether the bytes begin with a 1xx head. Status 101 is excluded: the bytes after it are not HTTP.
 */
function isInterim(bytes: Buffer): boolean {
  if (bytes.length < statusEnd || bytes[statusEnd - 3] !== 0x31) return false
  const start = bytes.toString('latin1', 0, statusEnd)
  return /^HTTP\/1\.\d 1\d\d$/.test(start) && !start.endsWith('101')
}

/**
 * Whether more bytes are needed to classify the response. Bytes that are not HTTP go to undici's
 * parser, which rejects them.
 */
function mayBecomeHead(bytes: Buffer): boolean {
  return bytes.length < statusEnd && versionStart.startsWith(bytes.toString('latin1', 0, versionStart.length))
}
