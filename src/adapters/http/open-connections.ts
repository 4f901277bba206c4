import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../core/ports.ts'
import { nextIteration, sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import { type HttpResponse, problem, toHttpText } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

/** The state of one connection. */
export interface Connection {
  /** Whether the next response closes the connection. If so, no further request is read. */
  readonly isLast: boolean
  /**
   * Whether the current body is exempt from the request timeout, because its reader checks that the
   * body makes progress.
   */
  isLong: boolean
  /** Called when the rest of the current body will not arrive. `answer` is the response to send. */
  onBodyAborted: ((answer: HttpResponse) => void) | undefined
  /** Called when the connection closes. */
  readonly onClosed: Set<() => void>
}

interface State extends Connection {
  /** The monotonic time, in milliseconds, from which a response closes the connection. */
  readonly closesFrom: number
  /** Number of requests whose head has arrived and whose response is not completely sent. */
  requestsInProgress: number
  isLast: boolean
  /** The latest request. Its body may still be arriving. */
  current: IncomingMessage | undefined
}

/**
 * Removes `onBodyAborted` from the connection when the body was read. If a pipelined request has
 * already set another function, that function stays.
 */
export function endBody(connection: Connection, onBodyAborted: Connection['onBodyAborted']): void {
  if (connection.onBodyAborted === onBodyAborted) connection.onBodyAborted = undefined
}

export interface Connections {
  /** Starts to track the connections of a server. Call it before the server listens. */
  follow(server: Server): void
  of(request: IncomingMessage): Connection
  /** Whether the connection of the request is still open. If not, `of` and `staysAfter` throw. */
  isOpen(request: IncomingMessage): boolean
  /**
   * Calls `callback` once, when the response was written completely or its connection has closed,
   * whichever comes first. The connection must be open when this method is called.
   */
  afterResponse(request: IncomingMessage, response: ServerResponse, callback: () => void): void
  /**
   * Whether the connection stays open after the response to this request. It always stays open when
   * further requests are pipelined behind this one, because their responses must follow.
   */
  staysAfter(request: IncomingMessage): boolean
  /**
   * Makes each connection close after its next response. For the time `limits.lastCall`, in which
   * clients notice the stop, new connections are still accepted. After this time, new connections
   * are closed. The promise resolves when all requests that have arrived are parsed, or immediately
   * if the server never had a connection.
   */
  closeAfterNextResponse(): Promise<void>
  /** Closes connections without a request in progress, and without data that waits to be parsed. */
  closeIdle(): void
  closeAll(): void
}

interface Deps {
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly onAnswer: (answer: HttpResponse) => void
}

/**
 * Tracks the connections of servers. It also responds to invalid HTTP and to requests that are too
 * slow, in the same form as all other errors.
 */
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
      // The parser reports the same error again with each further chunk. The first report sets
      // `isLast`, so later reports are ignored.
      if (state === undefined || state.isLast) return
      // The timeout of a long body is ignored, because the reader of the body checks its progress.
      // Node reports the timeout only once per request, so from now on only the reader limits the
      // time.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && state.isLong && state.current?.complete === false) return
      state.isLast = true
      if (!socket.writable || isConnectionError(error)) socket.destroy()
      // The body of the current request will not be complete. If invalid data arrived together with
      // the head, the handler of this request may not have started to read the body. `setImmediate`
      // lets the handler start first. Otherwise `breakOff` would close the connection without a
      // response.
      else if (state.current?.complete === false) setImmediate(() => breakOff(state, socket, answerTo(error, limits)))
      // While requests are in progress, no response is sent for the error. Their next response
      // closes the connection (`isLast`).
      else if (state.requestsInProgress === 0) refuse(socket, error)
    })
    server.on('connect', (_request, socket: Socket) => {
      // After CONNECT, Node no longer tracks the connection, and would not close it after an error
      // or after `limits.silence`. So the connection is closed here, after an error response. If
      // earlier requests are still in progress, the connection is destroyed, and no request gets a
      // response.
      if (states.get(socket)?.requestsInProgress === 0) farewell(socket, connectRefused())
      else socket.destroy()
    })
  }

  const isOld = ({ socket }: IncomingMessage): boolean => clock.monotonic() >= stateOf(socket).closesFrom

  function stateOf(socket: Socket): State {
    const state = states.get(socket)
    if (state === undefined) throw new TypeError('the connection of the request is not known')
    return state
  }

  function refuse(socket: Socket, error: ParserError): void {
    // Browsers open connections before they need them. If a connection that was never used reaches
    // Node's request timeout, no 408 is sent, because there is no request to answer.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) socket.destroy()
    else farewell(socket, answerTo(error, limits))
  }

  /**
   * Sends a response, then discards data that still arrives, and closes the connection when the
   * client does or after `limits.linger.time`. Closing immediately would reset the connection and
   * lose the response.
   */
  function farewell(socket: Socket, answer: HttpResponse): void {
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
      // Wait even if all connections have closed, because some clients open a new connection for
      // each request and may send one more.
      await sleep(clock, limits.lastCall)
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
  state.isLong = false
  response.once('close', () => {
    state.requestsInProgress -= 1
  })
}

const checkedEvery = durationMs(20)

/**
 * Waits for two iterations of the event loop, so that requests that arrived while the process was
 * busy are read: the first iteration accepts their connections, and the second one reads them.
 */
async function untilRead(clock: Clock): Promise<void> {
  for (let count = 0; count < 2; count += 1) await nextIteration(clock)
}

/** Resolves as soon as no connection has data that waits to be parsed. */
async function untilParsed(states: ReadonlyMap<Socket, State>, clock: Clock): Promise<void> {
  while ([...states.keys()].some(socket => socket.readableLength > 0)) await sleep(clock, checkedEvery)
}

/**
 * Whether data of further requests has arrived behind this request on the same connection. The data
 * may not be parsed yet.
 */
const hasNext = ({ current }: State, request: IncomingMessage): boolean =>
  current !== request || request.socket.readableLength > 0

const isIdle = (socket: Socket, { requestsInProgress }: State): boolean =>
  requestsInProgress === 0 && socket.readableLength === 0

/**
 * Handles a request whose body will never be complete, because the connection has an error. If a
 * handler still reads the body, that handler sends `answer`. Otherwise a response was already sent,
 * and the connection is closed.
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
  // When a connection closes, older versions of Node emit no `close` for a response that waits
  // behind another one (Node 24.21 emits it). `onClosed` calls the callback in this case.
  onClosed.add(once)
  response.once('close', once)
}

/** The error of Node's event `clientError`. `reason` is the text of its parser. */
type ParserError = Error & { readonly code?: string; readonly reason?: string }

export const everyMethod = 'GET, HEAD, OPTIONS, POST'

const randomAge = ({ min, max }: HttpLimits['age']): number => min + Math.random() * (max - min)

const idleState = (closesFrom: number): State => ({
  closesFrom,
  requestsInProgress: 0,
  isLast: false,
  isLong: false,
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
