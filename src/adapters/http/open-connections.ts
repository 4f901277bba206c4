import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../core/ports.ts'
import { nextIteration, sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import { everyMethod } from './api-paths-and-methods.ts'
import { type HttpResponse, problem, toHttpText } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

export interface Connection {
  /** Whether the next response closes the connection, so that no further request is read. */
  readonly isLast: boolean
  /**
   * Whether the body is exempt from the request timeout, because its reader checks the progress.
   */
  isProgressChecked: boolean
  /** Called if the rest of the body will not arrive. `answer` is the response to send. */
  onBodyAborted: ((answer: HttpResponse) => void) | undefined
  /** Called when the connection closes. */
  readonly onClosed: Set<() => void>
}

interface State extends Connection {
  /** From this monotonic time, in ms, the next response closes the connection. */
  readonly closesFrom: number
  /** Requests whose head has arrived and whose response is not completely sent. */
  requestsInProgress: number
  isLast: boolean
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
}

/**
 * Removes `onBodyAborted` when the body was read, unless a pipelined request has set another
 * function.
 */
export function clearBodyAbortedCallback(connection: Connection, onBodyAborted: Connection['onBodyAborted']): void {
  if (connection.onBodyAborted === onBodyAborted) connection.onBodyAborted = undefined
}

export interface Connections {
  /** Tracks the connections of a server. Call it before the server listens. */
  follow(server: Server): void
  of(request: IncomingMessage): Connection
  /** Whether the connection of the request is open. If it is not, `of` and `staysAfter` throw. */
  isOpen(request: IncomingMessage): boolean
  /**
   * Calls `callback` once, when the response is written completely or the connection closes. The
   * connection must still be open.
   */
  afterResponse(request: IncomingMessage, response: ServerResponse, callback: () => void): void
  /**
   * Whether the connection stays open after the response. If further pipelined requests have
   * arrived, it always does, because they need a response too.
   */
  staysAfter(request: IncomingMessage): boolean
  /**
   * Closes each connection after its next response. Accepts new connections only during
   * `limits.acceptAfterStop`. Resolves when all requests that have arrived are parsed.
   */
  closeAfterNextResponse(): Promise<void>
  /** Closes connections without a request in progress and without unparsed data. */
  closeIdle(): void
  closeAll(): void
}

interface Deps {
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly onAnswer: (answer: HttpResponse) => void
}

/** Tracks the connections of servers, and responds to invalid HTTP and slow requests. */
export function createConnections({ limits, clock, onAnswer }: Deps): Connections {
  const states = new Map<Socket, State>()
  let phase: 'unused' | 'open' | 'leaving' | 'closed' = 'unused'

  function follow(server: Server): void {
    server.prependListener('connection', (socket: Socket) => {
      if (phase === 'closed') return void socket.destroy()
      if (phase === 'unused') phase = 'open'
      const state = idleState(clock.monotonic() + randomAge(limits.age))
      states.set(socket, state)
      state.onClosed.add(() => states.delete(socket))
      socket.once('close', () => callAll(state.onClosed))
    })
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      beginRequest(stateOf(request.socket), request, response)
    })
    server.on('clientError', (error: ParserError, socket: Socket) => {
      const state = states.get(socket)
      // The parser reports the error again with each further chunk. The first report has set
      // `isLast`.
      if (state === undefined || state.isLast) return
      // Ignore Node's request timeout while a long body arrives: the reader of the body checks its
      // progress instead. Node does not report this timeout again for the same request.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && state.isProgressChecked && state.current?.complete === false)
        return
      state.isLast = true
      if (!socket.writable || isConnectionError(error)) socket.destroy()
      // The body will never be complete. `setImmediate` lets the handler begin to read the body
      // first: without a reader, `breakOff` closes the connection without a response.
      else if (state.current?.complete === false) setImmediate(() => breakOff(state, socket, answerTo(error, limits)))
      // While requests are in progress, the error gets no response. The next response to one of
      // these requests closes the connection (`isLast`).
      else if (state.requestsInProgress === 0) refuse(socket, error)
    })
    server.on('connect', (_request, socket: Socket) => {
      // After CONNECT, Node no longer tracks the connection, so it is closed here. If earlier
      // requests are in progress, no response is sent: the client would take it for the response
      // to the first of these requests.
      if (states.get(socket)?.requestsInProgress === 0) respondAndClose(socket, connectRefused())
      else socket.destroy()
    })
  }

  const isOld = ({ socket }: IncomingMessage): boolean => clock.monotonic() >= stateOf(socket).closesFrom

  function stateOf(socket: Socket): State {
    const state = states.get(socket)
    if (state === undefined) throw new TypeError('this HTTP server does not track the connection of the request')
    return state
  }

  function refuse(socket: Socket, error: ParserError): void {
    // Browsers open connections in advance. If a client has sent nothing, close the connection
    // without a response.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) socket.destroy()
    else respondAndClose(socket, answerTo(error, limits))
  }

  /**
   * Sends a response, then discards data until the client closes the connection or
   * `limits.linger.time` ends. Closing immediately would reset the connection and lose the
   * response.
   */
  function respondAndClose(socket: Socket, answer: HttpResponse): void {
    onAnswer(answer)
    socket.end(toHttpText(answer))
    const cancel = clock.after(limits.linger.time, () => socket.destroy())
    socket.once('close', cancel)
  }

  return {
    follow,
    of: request => stateOf(request.socket),
    isOpen: request => states.has(request.socket),
    afterResponse: (request, response, callback) => waitForResponse(stateOf(request.socket), response, callback),
    staysAfter: request =>
      (phase === 'open' && states.size <= limits.connections / 2 && !isOld(request)) ||
      hasNext(stateOf(request.socket), request),
    async closeAfterNextResponse() {
      const wasUnused = phase === 'unused'
      if (phase !== 'closed') phase = 'leaving'
      if (wasUnused) return
      // Wait even without connections: some clients open a connection for each request, and may
      // send one more.
      await sleep(clock, limits.acceptAfterStop)
      await untilRead(clock)
      phase = 'closed'
      await untilParsed(states, clock)
    },
    closeIdle() {
      for (const [socket, state] of states) if (isIdle(socket, state)) socket.destroySoon()
    },
    closeAll() {
      for (const socket of states.keys()) socket.destroy()
    },
  }
}

function beginRequest(state: State, request: IncomingMessage, response: ServerResponse): void {
  state.requestsInProgress += 1
  state.current = request
  state.isProgressChecked = false
  response.once('close', () => {
    state.requestsInProgress -= 1
  })
}

const checkedEvery = durationMs(20)

/**
 * Waits for two iterations of the event loop: the first accepts connections that arrived while the
 * process was busy, and the second reads their requests.
 */
async function untilRead(clock: Clock): Promise<void> {
  for (let count = 0; count < 2; count += 1) await nextIteration(clock)
}

/** Resolves when no connection has unparsed data. */
async function untilParsed(states: ReadonlyMap<Socket, State>, clock: Clock): Promise<void> {
  while ([...states.keys()].some(socket => socket.readableLength > 0)) await sleep(clock, checkedEvery)
}

/** Whether data of further requests, parsed or not, has arrived behind this request. */
const hasNext = ({ current }: State, request: IncomingMessage): boolean =>
  current !== request || request.socket.readableLength > 0

const isIdle = (socket: Socket, { requestsInProgress }: State): boolean =>
  requestsInProgress === 0 && socket.readableLength === 0

/**
 * Handles a request whose body will never be complete. A handler that still reads the body sends
 * `answer`. Otherwise, a response was already sent, and the connection is closed.
 */
function breakOff(state: State, socket: Socket, answer: HttpResponse): void {
  if (state.onBodyAborted === undefined) socket.destroySoon()
  else state.onBodyAborted(answer)
}

function callAll(callbacks: Iterable<() => void>): void {
  for (const callback of callbacks) callback()
}

function waitForResponse({ onClosed }: State, response: ServerResponse, callback: () => void): void {
  const once = (): void => {
    if (onClosed.delete(once)) callback()
  }
  // When a connection closes, some Node versions before 24.21 emit no `close` for a response that
  // waits behind another one. `onClosed` covers this case.
  onClosed.add(once)
  response.once('close', once)
}

/** The error of Node's event `clientError`. `reason` is the parser's text. */
type ParserError = Error & { readonly code?: string; readonly reason?: string }

const randomAge = ({ min, max }: HttpLimits['age']): number => min + Math.random() * (max - min)

const idleState = (closesFrom: number): State => ({
  closesFrom,
  requestsInProgress: 0,
  isLast: false,
  isProgressChecked: false,
  onClosed: new Set(),
  current: undefined,
  onBodyAborted: undefined,
})

const connectRefused = (): HttpResponse =>
  problem('method_not_allowed', 'CONNECT is not supported: this server is not a proxy.', { allow: everyMethod })

const isConnectionError = ({ code = '' }: ParserError): boolean =>
  !code.startsWith('HPE_') && code !== 'ERR_HTTP_REQUEST_TIMEOUT'

function answerTo({ code, reason }: ParserError, { headBytes }: HttpLimits): HttpResponse {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem(
        'request_timeout',
        'The request took too long to arrive: send the whole request again, over a faster connection.',
      )
    case 'HPE_HEADER_OVERFLOW':
      return problem(
        'headers_too_large',
        `The URL and the header fields of the request have more than ${headBytes} bytes together: shorten them.`,
      )
    default:
      return problem(
        'malformed_request',
        `The request is not valid HTTP/1.1 (${reason ?? 'it cannot be parsed'}): correct the client.`,
      )
  }
}
