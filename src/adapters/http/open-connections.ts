import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../core/ports.ts'
import { type Answer, onTheWire, problem } from './answers.ts'
import type { HttpLimits } from './server-limits.ts'

/** What is going on on one connection. */
export interface Connection {
  /** Requests whose head has come and whose answer has not gone. */
  readonly underWay: number
  /** Nothing more is read: the next answer says so. */
  readonly isLast: boolean
  /** The body that is being read may take longer than a request may, as long as it makes progress. */
  isLong: boolean
  /** Told when the body that is being read will not come to its end. */
  onBroken: ((answer: Answer) => void) | undefined
}

interface State extends Connection {
  underWay: number
  isLast: boolean
  /** The latest request, whose body may still be coming in. */
  current: IncomingMessage | undefined
}

export interface Connections {
  /** Follows what happens on a server that does not listen yet. */
  follow(server: Server): void
  of(request: IncomingMessage): Connection
  /** Whether the connection stays open after the answer to this request: where others have come behind it, their answers come first. */
  staysAfter(request: IncomingMessage): boolean
  /** From now on no connection stays after its next answer. Resolves when everybody has had the time to see that, or at once when nobody ever came. */
  lastCall(): Promise<void>
  /** Closes those without a request. */
  closeIdle(): void
  /** Breaks off all of them. */
  closeAll(): void
}

interface Deps {
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly onAnswer: (answer: Answer) => void
}

/** Follows the connections of servers, and answers what is no HTTP or comes too slowly, in the same form as everything else. */
export function createConnections({ limits, clock, onAnswer }: Deps): Connections {
  const states = new Map<Socket, State>()
  let hadAny = false
  let isLeaving = false

  function follow(server: Server): void {
    server.prependListener('connection', (socket: Socket) => {
      hadAny = true
      states.set(socket, { underWay: 0, isLast: false, isLong: false, current: undefined, onBroken: undefined })
      socket.once('close', () => states.delete(socket))
    })
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const state = stateOf(request.socket)
      state.underWay += 1
      state.current = request
      state.isLong = false
      response.once('close', () => {
        state.underWay -= 1
      })
    })
    server.on('clientError', (error: ParserError, socket: Socket) => {
      const state = states.get(socket)
      // The parser reports again with every piece that follows.
      if (state === undefined || state.isLast) return
      // Told once a request; its reader sees to it that it makes progress.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && state.isLong && state.current?.complete === false) return
      state.isLast = true
      if (!socket.writable || isConnectionError(error)) socket.destroy()
      else if (state.current?.complete === false) breakOff(state, socket, answerTo(error))
      // What came before is answered, and that answer is the last.
      else if (state.underWay === 0) refuse(socket, error)
    })
    server.on('connect', (_request, socket: Socket) => {
      const state = states.get(socket)
      if (state?.underWay === 0)
        farewell(socket, problem('method_not_allowed', 'This is no proxy.', { allow: everyMethod }))
      else if (state !== undefined) state.isLast = true
    })
  }

  function stateOf(socket: Socket): State {
    const state = states.get(socket)
    if (state === undefined) throw new TypeError('a request without a connection')
    return state
  }

  /** The body under way is not to be had. Whoever reads it answers; if nobody does, its answer has gone already. */
  function breakOff(state: State, socket: Socket, answer: Answer): void {
    if (state.onBroken === undefined) socket.destroySoon()
    else state.onBroken(answer)
  }

  function refuse(socket: Socket, error: ParserError): void {
    // Browsers open connections ahead of need; they are not told that they are late with a request they do not have.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) socket.destroy()
    else farewell(socket, answerTo(error))
  }

  /** What still comes in is thrown away for a while: closing at once would reset the connection, and the answer be lost. */
  function farewell(socket: Socket, answer: Answer): void {
    onAnswer(answer)
    socket.end(onTheWire(answer))
    const cancel = clock.after(limits.linger.time, () => socket.destroy())
    socket.once('close', cancel)
    if (socket.listenerCount('error') === 0) socket.on('error', () => {})
  }

  return {
    follow,
    of: request => stateOf(request.socket),
    staysAfter: request =>
      (!isLeaving && states.size <= limits.connections / 2) || stateOf(request.socket).current !== request,
    lastCall() {
      isLeaving = true
      if (!hadAny) return Promise.resolve()
      // Also when all have gone: those who open one for each request still come, and would meet the end of listening.
      // What has come by then is read first: it may lie in the kernel while the process has other things to do.
      return new Promise(resolve => void clock.after(limits.lastCall, () => void setImmediate(resolve)))
    },
    closeIdle() {
      for (const [socket, { underWay }] of states) if (underWay === 0) socket.destroySoon()
    },
    closeAll() {
      for (const socket of states.keys()) socket.destroy()
    },
  }
}

/** What Node reports as a client's error: `reason` is its parser's own text. */
type ParserError = Error & { readonly code?: string; readonly reason?: string }

export const everyMethod = 'GET, HEAD, OPTIONS, POST'

const isConnectionError = ({ code = '' }: ParserError): boolean =>
  !code.startsWith('HPE_') && code !== 'ERR_HTTP_REQUEST_TIMEOUT'

function answerTo({ code, reason }: ParserError): Answer {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request_timeout', 'The request did not come to its end in time: send it again, faster.')
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers_too_large', 'The request has too many or too long header fields: send fewer.')
    default:
      return problem('malformed_request', `The request is no valid HTTP/1.1: ${reason ?? 'it cannot be read'}.`)
  }
}
