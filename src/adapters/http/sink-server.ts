import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../core/ports.ts'
import type { Secret } from '../../core/secret.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/time.ts'
import { processClock } from '../clock/process-clock.ts'

export type SinkAnswer = number | 'reset' | 'hang'

export interface SinkRequest {
  readonly at: EpochMs
  /** The path of the request, with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The unparsed body. */
  readonly body: string
  /** `null` when the sink has no secret. */
  readonly signatureValid: boolean | null
  readonly messageId: string | undefined
  readonly answer: SinkAnswer
}

export interface SinkOptions {
  /** Defaults to a free port of 127.0.0.1. */
  readonly listen?: ListenAddress | undefined
  /** A signature is valid when it matches any of these secrets. */
  readonly secrets?: readonly Secret[]
  /**
   * The responses to the attempts of one message on one path, in order; the last one repeats. The
   * sink recognises a message by X-Message-Id or, without this header, by the body.
   */
  readonly answers?: readonly SinkAnswer[] | undefined
  /** Delay before each response or reset. */
  readonly latency?: DurationMs | undefined
  /** Value of Retry-After in seconds, sent with every status other than 2xx. */
  readonly retryAfter?: number | undefined
  /** Resets the connection of every n-th request. A reset does not count as one of `answers`. */
  readonly resetEvery?: number | undefined
  /** Certificate and key as PEM text. Defaults to plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Called with every POST whose body is not too large. The response waits for the promise. */
  readonly onRequest?: (request: SinkRequest) => void | Promise<void>
  readonly clock?: Clock
}

export interface SinkSummary {
  readonly received: number
  /** Number of distinct messages in the `received` requests. */
  readonly messages: number
  readonly badSignatures: number
}

/** A webhook endpoint for development and tests, in place of the endpoint of a customer. */
export interface Sink {
  /**
   * Starts to listen. Returns the URL.
   * @throws SinkFailed
   */
  start(): Promise<string>
  /** Closes all connections, also those with a request in progress. */
  stop(): Promise<SinkSummary>
}

/** The sink cannot start with these options. */
export class SinkFailed extends Error {
  override readonly name = 'SinkFailed'
  readonly code: string

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(`${message}: ${cause.message}`, { cause })
    this.code = cause.code ?? 'unknown'
  }
}

/** Maximum body size in bytes. Every webhook request of Hookline is smaller. */
export const maxBodyBytes = 1_048_576

const anyPort: ListenAddress = { host: '127.0.0.1', port: 0 }

/**
 * Time until an idle connection is closed. It is longer than the idle time of clients, so that no
 * client reuses a connection that the sink is closing.
 */
const keepAliveMs = 120_000

/**
 * Creates a sink.
 * @throws SinkFailed when the certificate and key cannot be used
 */
export function createSink(options: SinkOptions = {}): Sink {
  const { listen = anyPort, secrets = [], onRequest, clock = processClock } = options
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

/** Verifies a signature as receivers must: over the parsed and re-serialized body. */
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

function createPlan({ answers = [200], resetEvery }: SinkOptions): (message: string) => SinkAnswer {
  const tries = new Map<string, number>()
  let requests = 0
  return message => {
    requests++
    if (resetEvery !== undefined && requests % resetEvery === 0) return 'reset'
    const last = answers.length - 1
    const index = Math.min(tries.get(message) ?? 0, last)
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

/**
 * Resets a TCP connection. Node cannot reset a TLS connection, so the sink closes it without
 * close_notify, which clients treat like a reset.
 */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, headers).end()
}

/**
 * Reads the body to its end, so that the client can read the response. Returns `undefined` when
 * the body is too large.
 */
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
