import type { ClientRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { Clock } from '../../core/ports.ts'
import type { CallPhase } from '../../core/webhook-ports.ts'
import { maxAnswerBytes, ResponseTooLong } from './http-client-limits.ts'

/**
 * The phase that a connection has reached, or in which it failed. `proxy`: Hookline connects to the
 * proxy. `tunnel`: the proxy connects to the endpoint.
 */
export type ConnectionPhase = Exclude<CallPhase, 'auth' | 'address' | 'deadline'> | 'tunnel'

export interface Progress {
  readonly phase: ConnectionPhase
  /** When the connection attempt began, in monotonic milliseconds. */
  readonly dialledAt: number
}

/** The facts about a connection that determine its phases. */
export interface FollowedConnection {
  readonly host: string
  readonly isTls: boolean
  /** Whether the socket is already connected through a tunnel of the proxy. */
  readonly isTunnelled: boolean
}

/** Tracks the phase of a connection. Call it when `socket` starts to connect. */
export function followProgress(
  socket: Socket,
  { host, isTls, isTunnelled }: FollowedConnection,
  dialledAt: number,
): Progress {
  const first = isIP(host) === 0 ? 'dns' : 'connect'
  const progress: { phase: ConnectionPhase; readonly dialledAt: number } = {
    phase: isTunnelled ? (isTls ? 'tls' : 'exchange') : first,
    dialledAt,
  }
  const enter = (next: ConnectionPhase) => () => {
    progress.phase = next
  }
  socket.once('lookup', enter('connect'))
  socket.once('connect', enter(isTls ? 'tls' : 'exchange'))
  if (isTls) socket.once('secureConnect', enter('exchange'))
  return progress
}

interface Connection {
  readonly progress: Progress
  /** Bytes of the response to the current request that have arrived. */
  received: number
}

/** Tracks the phase, age and received bytes of each connection of Node's agents. */
export interface ConnectionsProgress {
  /** Starts to track a connection when `socket` starts to connect. */
  follow(socket: Socket, connection: FollowedConnection): void
  noteReuse(socket: object): void
  /** Milliseconds since the connection attempt began. */
  age(socket: object): number
  /**
   * The phase of the request's connection. It is `exchange` if the connection was reused, or if
   * `request` is `undefined` because the request could not be created.
   */
  phaseOf(request: ClientRequest | undefined): ConnectionPhase
  /**
   * Whether the request uses a reused connection, and no byte of the response has arrived. If the
   * request then fails, the server may have closed the connection before the request arrived.
   */
  isUntouchedReuse(request: ClientRequest | undefined): boolean
}

export function createConnectionsProgress(clock: Pick<Clock, 'monotonic'>): ConnectionsProgress {
  const known = new WeakMap<object, Connection>()

  return {
    follow(socket, connection) {
      const followed = { progress: followProgress(socket, connection, clock.monotonic()), received: 0 }
      known.set(socket, followed)
      socket.on('data', ({ length }: Buffer) => {
        followed.received += length
        if (followed.received > maxAnswerBytes)
          socket.destroy(new ResponseTooLong(`the response has more than ${maxAnswerBytes} bytes`))
      })
    },
    noteReuse(socket) {
      const connection = known.get(socket)
      if (connection !== undefined) connection.received = 0
    },
    age: socket => clock.monotonic() - (known.get(socket)?.progress.dialledAt ?? Number.NEGATIVE_INFINITY),
    phaseOf(request) {
      if (request === undefined || request.reusedSocket) return 'exchange'
      return (request.socket && known.get(request.socket)?.progress.phase) ?? 'connect'
    },
    isUntouchedReuse(request) {
      if (!request?.reusedSocket) return false
      // If the request has no socket, the connection broke before Node assigned it to the request.
      return !request.socket || known.get(request.socket)?.received === 0
    },
  }
}
