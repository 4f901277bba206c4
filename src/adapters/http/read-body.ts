import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { neverFits, noMemory } from '../../core/message/request-refusal.ts'
import type { Clock } from '../../core/ports.ts'
import { isGzip } from '../streams/plain-or-gzip-lines.ts'
import { BodyBuffer, type ChunkMemory } from './body-buffer.ts'
import type { WriteKeySearch } from './find-write-key-in-body.ts'
import { type Connection, clearBodyAbortedCallback } from './open-connections.ts'
import { type HttpResponse, problem, refused } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'
import type { NotUnpacked, UnpackPermit } from './unpack-permits.ts'

export type Unpacked =
  | { readonly kind: 'unpacked'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'no_memory' | 'never_fits' | 'ratio' }
  | { readonly kind: 'refused'; readonly answer: HttpResponse }
  | { readonly kind: 'corrupt'; readonly detail: string }

const pieceBytes = 65_536

/**
 * Maximum ratio of unpacked to packed bytes. Batches stay far below it, because unique message ids
 * compress badly. Bodies of at most `above` unpacked bytes are not checked.
 */
const maxRatio = { factor: 100, above: 524_288 } as const

interface Limits {
  /**
   * Maximum unpacked bytes. The limit is lower while the source of the request is unknown, and
   * rises when `onBytes` finds the write key.
   */
  readonly limit: number
  /**
   * Called after each chunk with all bytes so far. If it returns a response, the request is refused
   * with this response.
   */
  onBytes?: WriteKeySearch['onBytes']
}

/**
 * Unpacks gzip off the main thread. Stops at the limit, so a compression bomb costs no more than a
 * normal body.
 */
export function gunzip(packed: Buffer, limits: Limits, memory: ChunkMemory): Promise<Unpacked> {
  const store = new BodyBuffer({
    get limit() {
      return limits.limit
    },
    memory,
  })
  const stream = createGunzip({ chunkSize: pieceBytes })
  return new Promise(resolve => {
    const end = (unpacked: Unpacked): void => {
      stream.destroy()
      store.free()
      resolve(unpacked)
    }
    stream.on('data', (piece: Buffer) => {
      const kind = store.add(piece)
      if (kind !== 'kept') return end({ kind })
      if (store.length > maxRatio.above && store.length > maxRatio.factor * packed.length) return end({ kind: 'ratio' })
      const answer = limits.onBytes?.(store)
      if (answer !== undefined) end({ kind: 'refused', answer })
    })
    stream.on('end', () => resolve({ kind: 'unpacked', bytes: store.bytes() }))
    stream.on('error', error => resolve({ kind: 'corrupt', detail: error.message }))
    stream.end(packed)
  })
}

export type BodyRead =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'refused'; readonly answer: HttpResponse }
  /** The client has closed the connection, so no response is sent. */
  | { readonly kind: 'gone' }

interface Deps {
  /** Maximum bytes of the body, both as sent and unpacked. */
  readonly maxBytes: number
  readonly memory: ChunkMemory & { received?(): void }
  /** Searches the body for the write key; `undefined` when the source is known. */
  readonly probe?: WriteKeySearch | undefined
  /** The permit to unpack the body; `undefined` for operators, who need none. */
  readonly permit?: UnpackPermit | undefined
  readonly progress: HttpLimits['progress']
  readonly clock: Clock
  readonly connection: Connection
}

/**
 * Reads a body as UTF-8 text. Detects gzip by the first bytes of the body, because SDKs set the
 * headers Content-Type and Content-Encoding wrongly.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, deps: Deps): Promise<BodyRead> {
  const { maxBytes, memory, probe, permit, connection } = deps
  if (Number(request.headers['content-length']) > maxBytes) return refuse(tooLarge(maxBytes))
  // A client with the header Expect waits for `100 Continue` before it sends the body. HTTP/1.0
  // does not define Expect.
  if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue()
  const wire = await receive(request, deps)
  if (wire.kind !== 'received') return wire
  const isPacked = isGzip(wire.bytes)
  // While the body waits for its permit, the memory budget may refuse it in favour of another body.
  const begun = isPacked ? await permit?.begin(connection, wire.bytes.length) : undefined
  if (begun !== undefined && begun.kind !== 'begun') {
    wire.free()
    return begun
  }
  memory.received?.()
  if (!isPacked) return { kind: 'read', text: textOf(wire.bytes) }
  const unpacked = await gunzip(wire.bytes, probe ?? { limit: maxBytes }, memory).finally(permit?.end)
  switch (unpacked.kind) {
    case 'unpacked':
      return { kind: 'read', text: textOf(unpacked.bytes) }
    case 'too_large':
      return refuse(tooLarge(maxBytes, probe))
    case 'ratio':
      return refuse(
        problem(
          'payload_too_large',
          'After decompression, the body has more than 100 times its compressed size: send it uncompressed.',
        ),
      )
    case 'refused':
      return refuse(unpacked.answer)
    case 'no_memory':
      return refuse(refused(noMemory))
    case 'never_fits':
      return refuse(refused(neverFits))
    case 'corrupt':
      return refuse(
        problem(
          'invalid_body',
          `The body begins like gzip but cannot be unpacked (${unpacked.detail}): send valid gzip or plain JSON.`,
        ),
      )
  }
}

type Received =
  | { readonly kind: 'received'; readonly bytes: Buffer /** Frees the bytes. */; readonly free: () => void }
  | NotUnpacked

const refuse = (answer: HttpResponse): { readonly kind: 'refused'; readonly answer: HttpResponse } => ({
  kind: 'refused',
  answer,
})

function tooLarge(maxBytes: number, probe?: WriteKeySearch): HttpResponse {
  const { limit } = probe ?? { limit: maxBytes }
  const text = `The body has more than ${limit} bytes uncompressed: send smaller requests.`
  const advice = ` With the write key in HTTP Basic or 'X-Write-Key', up to ${maxBytes} bytes are accepted.`
  return problem('payload_too_large', limit < maxBytes ? text + advice : text)
}
const tooSlow = (): HttpResponse =>
  problem(
    'request_timeout',
    'The body arrived too slowly: send the request again, with a smaller body or over a faster connection.',
  )
const tooManyPieces = (): HttpResponse =>
  problem('malformed_request', 'The body arrives in too many small chunks: send larger chunks.')

/**
 * Maximum number of chunks of a body if they have fewer than `smallPiece` bytes on average, because
 * each chunk has a fixed cost.
 */
const manyPieces = 65_536
const smallPiece = 16

function receive(request: IncomingMessage, deps: Deps): Promise<Received> {
  const { maxBytes, memory, probe, progress, clock, connection } = deps
  const declared = request.headers['content-length']
  const store = new BodyBuffer({
    get limit() {
      return probe?.limit ?? maxBytes
    },
    memory,
    expected: declared === undefined ? undefined : Number(declared),
  })
  let bytes = 0
  let pieces = 0
  const { promise, resolve } = Promise.withResolvers<Received>()

  function onData(piece: Buffer): void {
    bytes += piece.length
    pieces += 1
    const kept = store.add(piece)
    if (kept === 'too_large') settle(refuse(tooLarge(maxBytes, probe)))
    else if (kept === 'no_memory') settle(refuse(refused(noMemory)))
    else if (kept === 'never_fits') settle(refuse(refused(neverFits)))
    else if (pieces > manyPieces && bytes < pieces * smallPiece) settle(refuse(tooManyPieces()))
    else if (probe !== undefined && !isGzip(store.beginning(2))) {
      const answer = probe.onBytes(store)
      if (answer !== undefined) settle(refuse(answer))
    }
  }
  const onEnd = (): void => settle({ kind: 'received', bytes: store.bytes(), free: () => store.free() })
  const onGone = (): void => settle({ kind: 'gone' })

  let bytesBefore = 0
  function checkProgress(): void {
    if (bytes - bytesBefore < requiredBytes(bytesBefore, progress)) return settle(refuse(tooSlow()))
    bytesBefore = bytes
    cancel = clock.after(progress.within, checkProgress)
  }
  let cancel = clock.after(progress.within, checkProgress)

  function settle(result: Received): void {
    cancel()
    clearBodyAbortedCallback(connection, onBodyAborted)
    request.off('data', onData).off('end', onEnd).off('close', onGone)
    if (result.kind !== 'received') store.free()
    resolve(result)
  }

  // Do not create the function in the assignment below: V8 would allocate it in the old generation,
  // and keep the body longer (docs/decisions/0043, rule 10).
  const onBodyAborted = (answer: HttpResponse): void => settle(refuse(answer))
  connection.onBodyAborted = onBodyAborted
  // Without a listener of `error`, an error would end the process. The listener does nothing,
  // because `close` follows each error.
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('close', onGone)
    .on('error', () => {})
  return promise
}

/** Minimum bytes of the next period (`progress.within`), if `receivedBytes` arrived before it. */
const requiredBytes = (receivedBytes: number, { bytes, large }: HttpLimits['progress']): number =>
  large !== undefined && receivedBytes > large.above ? large.bytes : bytes

/** Decodes UTF-8, and removes a byte order mark, which `Buffer.toString` would keep. */
function textOf(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}
