import { isUtf8 } from 'node:buffer'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** The data begins like gzip, but is invalid or ends too early. */
export class DamagedGzip extends Error {
  override readonly name = 'DamagedGzip'
  readonly code = 'damaged_gzip'
}

const lineFeed = 0x0a

/**
 * Yields the lines of each chunk. A line that is not UTF-8 becomes `undefined`: if U+FFFD replaced
 * the invalid bytes, two different lines could become equal. A line is cut after `maxLineBytes` + 1
 * bytes, so that the caller can detect a line that is too long.
 * @throws DamagedGzip, and the errors of `pieces`
 */
export async function* linesOf(
  pieces: AsyncIterable<Buffer>,
  maxLineBytes: number,
): AsyncGenerator<readonly (string | undefined)[]> {
  const splitter = new LineSplitter(maxLineBytes + 1)
  for await (const piece of unpacked(pieces)) {
    const lines = splitter.push(piece)
    if (lines.length > 0) yield lines
  }
  yield splitter.end()
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
    if (isGzip(head)) yield* gunzipped(head, iterator)
    else yield* followedBy(head, isDone ? undefined : iterator)
  } catch (error) {
    throw isZlibError(error) ? new DamagedGzip(`gzip cannot be unpacked: ${error.message}`, { cause: error }) : error
  } finally {
    await iterator.return?.()
  }
}

/**
 * Unpacks gzip. Throws an error if data follows a zero byte between two gzip members. Node silently
 * ignores this data, so a full audience sync would remove the users whom the data lists.
 */
async function* gunzipped(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  /** The number of compressed bytes: in total, and up to the last non-zero byte. */
  let [length, lengthWithoutPadding] = [0, 0]
  const count = (piece: Buffer): void => {
    let end = piece.length
    while (end > 0 && piece[end - 1] === 0) end--
    if (end > 0) lengthWithoutPadding = length + end
    length += piece.length
  }
  let failure: { readonly error: unknown } | undefined
  const counted = {
    async next(): Promise<IteratorResult<Buffer>> {
      try {
        const next = await rest.next()
        if (next.done !== true) count(next.value)
        return next
      } catch (error) {
        failure = { error }
        throw error
      }
    },
  }
  count(head)
  const gunzip = createGunzip()
  // `pipeline` requires a callback. It is empty, because the iteration already throws the errors.
  yield* pipeline(Readable.from(followedBy(head, counted)), gunzip, () => {}) as AsyncIterable<Buffer>
  for (let next = await counted.next(); next.done !== true; ) next = await counted.next()
  // The pipeline ends at a zero byte between two members, so it does not throw a later read error.
  if (failure !== undefined) throw failure.error
  if (lengthWithoutPadding > gunzip.bytesWritten)
    throw new DamagedGzip(
      'gzip cannot be unpacked: more data follows the padding (0x00 bytes) after a gzip member; padding is permitted only at the end',
    )
}

const isZlibError = (error: unknown): error is { readonly message: string } =>
  typeof error === 'object' && error !== null && 'code' in error && String(error.code).startsWith('Z_')

async function* followedBy(head: Buffer, rest: AsyncIterator<Buffer> | undefined): AsyncGenerator<Buffer> {
  yield head
  for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next())
    yield next.value
}

/** Splits bytes into lines. Chunks may end within a character. */
class LineSplitter {
  readonly #maxBytes: number
  #begun: Buffer[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(piece: Buffer): (string | undefined)[] {
    const lines: (string | undefined)[] = []
    let from = 0
    for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, from)) {
      lines.push(this.#whole(piece.subarray(from, at)))
      from = at + 1
    }
    this.#keep(piece.subarray(from))
    return lines
  }

  /** The line after the last line feed, if it is not empty. */
  end(): readonly (string | undefined)[] {
    return this.#length === 0 ? [] : [this.#whole(Buffer.alloc(0))]
  }

  #whole(end: Buffer): string | undefined {
    if (this.#length === 0) return this.#decoded(end.subarray(0, this.#maxBytes))
    this.#keep(end)
    const line = this.#decoded(Buffer.concat(this.#begun))
    this.#begun = []
    this.#length = 0
    return line
  }

  /**
   * Decodes a line. Returns `undefined` if the line is not UTF-8 or has null bytes. A cut line is
   * not checked, because it may end within a character.
   */
  #decoded(line: Buffer): string | undefined {
    const isText = line.length === this.#maxBytes || (isUtf8(line) && !line.includes(0))
    return isText ? line.toString() : undefined
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, this.#maxBytes - this.#length)
    if (kept.length === 0) return
    this.#begun.push(Buffer.from(kept))
    this.#length += kept.length
  }
}

/**
 * Whether the bytes begin like gzip (RFC 1952); no JSON text does. The header Content-Encoding is
 * not used, because clients set it wrongly.
 */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
