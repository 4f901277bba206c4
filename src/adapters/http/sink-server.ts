import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, type Secret } from '../../core/units.ts'
import { systemClock } from '../clock/clock.ts'

/** How a request is answered: with a status, by breaking the connection, or never. */
export type SinkAnswer = number | 'reset' | 'hang'

/** A request as it came in. */
export interface SinkRequest {
  readonly at: EpochMs
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The raw text. */
  readonly body: string
  /** Null when the sink has no secret to judge by. */
  readonly signatureValid: boolean | null
  readonly messageId: string | undefined
  readonly answer: SinkAnswer
}

export interface SinkOptions {
  /** Absent: a free port of 127.0.0.1. */
  readonly listen?: ListenAddress | undefined
  /** Any of them makes a signature valid. None: signatures are not judged. */
  readonly secrets?: readonly Secret[]
  /**
   * The answers to the tries of one message on one path, in turn; the last one from then on. Absent: 200. Tries are told by
   * X-Message-Id, without that header by the body.
   */
  readonly answers?: readonly SinkAnswer[] | undefined
  /** Waits so long before it answers or resets. */
  readonly latency?: DurationMs | undefined
  /** Seconds, sent with every status that is not 2xx. */
  readonly retryAfter?: number | undefined
  /** 10: each tenth request's connection is reset; the message's next answer is then still to come. */
  readonly resetEvery?: number | undefined
  /** PEM text. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Called with every POST before it is answered; the answer waits for what it returns. */
  readonly onRequest?: (request: SinkRequest) => void | Promise<void>
  readonly clock?: Clock
}

export interface SinkSummary {
  readonly received: number
  /** Distinct ones. */
  readonly messages: number
  readonly badSignatures: number
}

/** A receiver of webhooks as a customer may have one, for development and tests. */
export interface Sink {
  /** The URL with the port that was really taken. Rejects with `SinkFailed`. */
  start(): Promise<string>
  /** Breaks all connections, also those not answered yet. */
  stop(): Promise<SinkSummary>
}

/** The sink cannot be had as it was asked for. */
export class SinkFailed extends Error {
  override readonly name = 'SinkFailed'
  readonly code: string

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(`${message}: ${cause.message}`, { cause })
    this.code = cause.code ?? 'unknown'
  }
}

/** Larger than any webhook that Hookline makes. */
export const maxBodyBytes = 1_048_576

const anyPort: ListenAddress = { host: '127.0.0.1', port: 0 }

/** Clients keep connections for less; a shorter time here would now and then close one in the moment of its re-use. */
const keepAliveMs = 120_000

/** Throws `SinkFailed` when certificate and key cannot be used. */
export function createSink(options: SinkOptions = {}): Sink {
  const { listen = anyPort, secrets = [], onRequest, clock = systemClock } = options
  const plan = createPlan(options)
  const messages = new Set<string>()
  let received = 0
  let badSignatures = 0

  function note(request: IncomingMessage, body: string): SinkRequest {
    const { headers, url: path = '/' } = request
    const messageId = textOf(headers['x-message-id'])
    const identity = messageId ?? createHash('sha256').update(body).digest('base64')
    const signatureValid = secrets.length === 0 ? null : isSigned(body, textOf(headers['x-signature']), secrets)
    received++
    messages.add(identity)
    if (signatureValid === false) badSignatures++
    return { at: clock.now(), path, headers, body, signatureValid, messageId, answer: plan(`${path} ${identity}`) }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request).catch(() => 'aborted' as const)
    if (body === 'aborted') return
    if (request.method !== 'POST') return refuse(response, 405, { Allow: 'POST' })
    if (body === undefined) return refuse(response, 413, {})
    const noted = note(request, body.text)
    await onRequest?.(noted)
    carryOut(noted.answer, request.socket, response, options, clock)
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => void handle(request, response)
  const server = options.tls === undefined ? createServer(listener) : tlsServer(options.tls, listener)
  server.keepAliveTimeout = keepAliveMs
  return {
    async start() {
      try {
        await once(server.listen(listen), 'listening')
      } catch (error) {
        throw new SinkFailed(`cannot listen on ${listen.host}:${listen.port}`, error as Error)
      }
      const { address, family, port } = server.address() as AddressInfo
      const host = family === 'IPv6' ? `[${address}]` : address
      return `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}`
    },
    async stop() {
      if (server.listening) {
        const closed = once(server, 'close')
        server.close()
        server.closeAllConnections()
        await closed
      }
      return { received, messages: messages.size, badSignatures }
    },
  }
}

/** As the specification has receivers do it (A5.4): the digest of the parsed and re-serialised body. */
function isSigned(body: string, signature: string | undefined, secrets: readonly Secret[]): boolean {
  const text = reserialised(body)
  if (text === undefined || signature === undefined) return false
  const given = Buffer.from(signature)
  return secrets.some(secret => {
    const expected = Buffer.from(createHmac('sha1', secret.reveal()).update(text).digest('hex'))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}

function reserialised(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** What the next try of a message is answered with. */
function createPlan({ answers = [200], resetEvery }: SinkOptions): (message: string) => SinkAnswer {
  const tries = new Map<string, number>()
  let requests = 0
  return message => {
    requests++
    if (resetEvery !== undefined && requests % resetEvery === 0) return 'reset'
    const last = answers.length - 1
    const index = Math.min(tries.get(message) ?? 0, last)
    // Most messages are tried once, and nothing need be remembered of them when there is one answer for all.
    if (last > 0) tries.set(message, index + 1)
    return answers[index] ?? 200
  }
}

function carryOut(
  answer: SinkAnswer,
  socket: Socket,
  response: ServerResponse,
  { latency = durationMs(0), retryAfter }: SinkOptions,
  clock: Clock,
): void {
  if (answer === 'hang') return
  const act = (): void => {
    if (answer === 'reset') return reset(socket)
    response.statusCode = answer
    if (retryAfter !== undefined && (answer < 200 || answer > 299)) response.setHeader('Retry-After', retryAfter)
    response.end()
  }
  if (latency === 0) return act()
  const cancel = clock.after(latency, act)
  response.once('close', cancel)
}

/** A TLS connection cannot be reset from here: it ends without the farewell, which a client takes for the same. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, headers).end()
}

/** Undefined: too large. Read to its end all the same, so that the sender gets to read the answer. */
async function readBody(request: IncomingMessage): Promise<{ readonly text: string } | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  }
  return bytes <= maxBodyBytes ? { text: Buffer.concat(chunks).toString() } : undefined
}

function tlsServer(
  tls: NonNullable<SinkOptions['tls']>,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): ReturnType<typeof createTlsServer> {
  try {
    return createTlsServer({ cert: tls.cert, key: tls.key }, listener)
  } catch (error) {
    throw new SinkFailed('the TLS certificate and key cannot be used', error as Error)
  }
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined
