import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import type { Clock } from '../../core/ports.ts'
import { isGzip } from '../streams/lines.ts'
import { type Answer, problem } from './answers.ts'
import { ByteStore, type Reservation } from './memory.ts'
import type { Connection } from './open-connections.ts'
import type { SenderProbe } from './sender-probe.ts'
import type { HttpLimits } from './server-limits.ts'

export type Unpacked =
  | { readonly kind: 'unpacked'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'no_memory' | 'ratio' }
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'corrupt'; readonly detail: string }

const pieceBytes = 65_536

/**
 * Unpacked bytes for each packed one. JSON with an id in each message stays far below; batches of SDKs have at most half a
 * megabyte and are never judged by it.
 */
const maxRatio = { factor: 100, above: 524_288 } as const

interface Limits {
  /** Unpacked bytes, as of now. */
  readonly limit: number
  /** Called after each piece with all bytes so far; an answer ends it. */
  onBytes?: SenderProbe['onBytes']
}

/** Unpacks gzip, off the main thread. Ends at the first byte over the limit: a bomb costs no more than an honest body. */
export function gunzip(packed: Buffer, limits: Limits, memory: Pick<Reservation, 'take'>): Promise<Unpacked> {
  const store = new ByteStore({
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
  | { readonly kind: 'refused'; readonly answer: Answer }
  /** The sender has gone; there is nobody to answer. */
  | { readonly kind: 'gone' }

interface Deps {
  /** Bytes, as sent and unpacked. */
  readonly maxBytes: number
  readonly memory: Pick<Reservation, 'take'> & { received?(): void }
  /** Undefined: the sender is known. */
  readonly probe?: SenderProbe | undefined
  readonly progress: HttpLimits['progress']
  readonly clock: Clock
  readonly connection: Connection
}

/**
 * The body of a request as text. What it is, its bytes say: gzip or not, always UTF-8; headers are not asked, since SDKs are
 * wrong about both. Invalid bytes become U+FFFD, a byte order mark is left out.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, deps: Deps): Promise<BodyRead> {
  const { maxBytes, memory, probe } = deps
  if (Number(request.headers['content-length']) > maxBytes) return refuse(tooLarge(maxBytes))
  // Every other expectation has been refused; HTTP/1.0 knows none.
  if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue()
  const wire = await receive(request, deps)
  if (wire.kind !== 'received') return wire
  memory.received?.()
  if (!isGzip(wire.bytes)) return { kind: 'read', text: textOf(wire.bytes) }
  const unpacked = await gunzip(wire.bytes, probe ?? { limit: maxBytes }, memory)
  switch (unpacked.kind) {
    case 'unpacked':
      return { kind: 'read', text: textOf(unpacked.bytes) }
    case 'too_large':
      return refuse(tooLarge(maxBytes, probe))
    case 'ratio':
      return refuse(problem('payload_too_large', 'The body unpacks to more than 100 times its size: send it unpacked.'))
    case 'refused':
      return refuse(unpacked.answer)
    case 'no_memory':
      return refuse(noMemory())
    case 'corrupt':
      return refuse(problem('invalid_body', `The body begins like gzip and cannot be unpacked: ${unpacked.detail}.`))
  }
}

type Received = { readonly kind: 'received'; readonly bytes: Buffer } | Exclude<BodyRead, { kind: 'read' }>

const refuse = (answer: Answer): { readonly kind: 'refused'; readonly answer: Answer } => ({ kind: 'refused', answer })

function tooLarge(maxBytes: number, probe?: SenderProbe): Answer {
  const { limit } = probe ?? { limit: maxBytes }
  const text = `The body has more than ${limit} bytes: send smaller batches.`
  const advice = " More are accepted with the write key as the user of HTTP Basic or as 'X-Write-Key'."
  return problem('payload_too_large', limit < maxBytes ? text + advice : text)
}
export const noMemory = (): Answer =>
  problem('unavailable', 'Too many requests are under way: send this one again later.', { retryAfter: 1 })
const tooSlow = (): Answer => problem('request_timeout', 'The body came too slowly: send it again, faster.')
const tooManyPieces = (): Answer =>
  problem('malformed_request', 'The body comes in too many too small pieces: send larger ones.')

/** Each piece costs its handling, however small. Senders who write token by token stay below. */
const manyPieces = 65_536
const smallPiece = 16

function receive(request: IncomingMessage, deps: Deps): Promise<Received> {
  const { maxBytes, memory, probe, progress, clock, connection } = deps
  const declared = request.headers['content-length']
  const store = new ByteStore({
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
    else if (kept === 'no_memory') settle(refuse(noMemory()))
    else if (pieces > manyPieces && bytes < pieces * smallPiece) settle(refuse(tooManyPieces()))
    else if (probe !== undefined && !isGzip(store.beginning(2))) {
      const answer = probe.onBytes(store)
      if (answer !== undefined) settle(refuse(answer))
    }
  }
  const onEnd = (): void => settle({ kind: 'received', bytes: store.bytes() })
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
    connection.onBroken = undefined
    request.off('data', onData).off('end', onEnd).off('close', onGone)
    if (result.kind !== 'received') store.free()
    resolve(result)
  }

  // Assigned as it is made, V8 would take it for one that stays, and the body that it leads to with it (decision 43).
  const onBroken = (answer: Answer): void => settle(refuse(answer))
  connection.onBroken = onBroken
  // An error is followed by `close`; without a listener it would end the process.
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('close', onGone)
    .on('error', () => {})
  return promise
}

/** How many bytes the next period must bring, after this many have come. */
const requiredBytes = (held: number, { bytes, large }: HttpLimits['progress']): number =>
  large !== undefined && held > large.above ? large.bytes : bytes

/** Buffer puts U+FFFD in place of invalid bytes, as the WHATWG decoder does; a byte order mark it would keep. */
function textOf(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}
