import type { Socket } from 'node:net'
import { AnswerTooLong } from './call-failure.ts'
import { maxHeadBytes, maxInterimAnswers } from './client-limits.ts'

/** A head, and a body of 64 KiB in chunks of one byte (6 bytes each), are within it. */
const maxAnswerBytes = 512 * 1_024
/** As much as tells whether a head is an interim one: `HTTP/1.1 103`. */
const statusEnd = 12
const tooLong = 'the head of an interim answer is too long'
const versionStart = 'HTTP/1.'

/**
 * What comes in on a connection, before undici's parser reads it. That parser takes a `100` that nobody asked for as a
 * broken answer, but a client must be able to read one (RFC 9110 15.2; old servers send it): heads of interim answers are
 * taken out here. It also counts neither reason phrases nor extensions of chunks: what has no end is cut off here.
 */
export class Inlet {
  readonly #socket: Socket
  #received = 0
  #isHeadDue = false
  #interim = 0
  /** The start of a head, until it tells what it is. */
  #held: Buffer | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    // What undici calls to get the next bytes.
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null
    socket.read = (size?: number) => {
      for (let chunk = read(size); chunk !== null; chunk = read(size)) {
        const passed = this.#pass(chunk)
        if (passed !== undefined) return passed
      }
      return null
    }
  }

  /** A request goes out: what comes from now on is its answer. */
  expectAnswer(): void {
    this.#received = 0
    this.#isHeadDue = true
    this.#interim = 0
    this.#held = undefined
  }

  /** Not a byte has come since the answer was expected. */
  get isUntouched(): boolean {
    return this.#received === 0
  }

  #pass(chunk: Buffer): Buffer | undefined {
    this.#received += chunk.length
    if (this.#received > maxAnswerBytes) return this.#cutOff('the answer has no end')
    return this.#isHeadDue ? this.#withoutInterim(chunk) : chunk
  }

  #withoutInterim(chunk: Buffer): Buffer | undefined {
    let bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = undefined
    while (isInterim(bytes)) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return this.#hold(bytes)
      if (end > maxHeadBytes) return this.#cutOff(tooLong)
      if (++this.#interim > maxInterimAnswers) return this.#cutOff(`more than ${maxInterimAnswers} interim answers`)
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
    this.#socket.destroy(new AnswerTooLong(why))
  }
}

/** 1xx, but for 101: after that it is no HTTP any more. */
function isInterim(bytes: Buffer): boolean {
  if (bytes.length < statusEnd || bytes[statusEnd - 3] !== 0x31) return false
  const start = bytes.toString('latin1', 0, statusEnd)
  return /^HTTP\/1\.\d 1\d\d$/.test(start) && !start.endsWith('101')
}

/** Too short to tell, but so far a head. What is none already is left to the parser to refuse. */
function mayBecomeHead(bytes: Buffer): boolean {
  return bytes.length < statusEnd && versionStart.startsWith(bytes.toString('latin1', 0, versionStart.length))
}
