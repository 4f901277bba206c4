import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** What began like gzip is none, or ends too early. */
export class DamagedGzip extends Error {
  override readonly name = 'DamagedGzip'
  readonly code = 'damaged_gzip'
}

const lineFeed = 0x0a

/**
 * The lines of a text that comes in pieces, as many at a time as a piece holds; gzip is unpacked, which its first bytes tell. A line is
 * cut after `longest` bytes and one more, so that its reader sees that it is too long: memory stays small whatever comes. Throws what
 * `pieces` throws, and DamagedGzip.
 */
export async function* linesOf(pieces: AsyncIterable<Buffer>, longest: number): AsyncGenerator<readonly string[]> {
  const splitter = new LineSplitter(longest + 1)
  for await (const piece of unpacked(pieces)) {
    const lines = splitter.push(piece)
    if (lines.length > 0) yield lines
  }
  const last = splitter.end()
  if (last !== undefined) yield [last]
}

async function* unpacked(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = pieces[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let isDone = false
  try {
    while (head.length < 2 && !isDone) {
      const next = await iterator.next()
      if (next.done === true) isDone = true
      else head = Buffer.concat([head, next.value])
    }
    const all = followedBy(head, isDone ? undefined : iterator)
    if (!isGzip(head)) return yield* all
    // Its errors come out of the unpacked stream; the callback is only there to be one.
    yield* pipeline(Readable.from(all), createGunzip(), () => {}) as AsyncIterable<Buffer>
  } catch (error) {
    throw isZlibError(error) ? new DamagedGzip(`gzip cannot be unpacked: ${error.message}`, { cause: error }) : error
  } finally {
    await iterator.return?.()
  }
}

const isZlibError = (error: unknown): error is { readonly message: string } =>
  typeof error === 'object' && error !== null && 'code' in error && String(error.code).startsWith('Z_')

async function* followedBy(head: Buffer, rest: AsyncIterator<Buffer> | undefined): AsyncGenerator<Buffer> {
  yield head
  for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next())
    yield next.value
}

/** Cuts bytes into lines; characters that pieces cut in two are whole again. */
class LineSplitter {
  readonly #most: number
  #begun: Buffer[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  push(piece: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, from)) {
      lines.push(this.#whole(piece.subarray(from, at)))
      from = at + 1
    }
    this.#keep(piece.subarray(from))
    return lines
  }

  /** What no line feed ended. */
  end(): string | undefined {
    return this.#length === 0 ? undefined : this.#whole(Buffer.alloc(0))
  }

  #whole(end: Buffer): string {
    if (this.#length === 0) return end.toString('utf8', 0, this.#most)
    this.#keep(end)
    const line = Buffer.concat(this.#begun).toString()
    this.#begun = []
    this.#length = 0
    return line
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, this.#most - this.#length)
    if (kept.length === 0) return
    this.#begun.push(Buffer.from(kept))
    this.#length += kept.length
  }
}

/** RFC 1952: whatever the headers say, these two bytes are how gzip begins, and no JSON does. */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
