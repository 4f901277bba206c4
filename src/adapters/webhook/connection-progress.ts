import type { ClientRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { CallPhase, Clock } from '../../core/ports.ts'

/** How far a connection has come: what is being waited for, and what has failed when it breaks. */
export type ConnectionPhase = Exclude<CallPhase, 'address' | 'deadline'>

export interface Progress {
  readonly phase: ConnectionPhase
  /** On the monotonic clock. */
  readonly dialledAt: number
}

/** Follows a connection from the moment that it is dialled. */
export function followProgress(socket: Socket, host: string, isTls: boolean, dialledAt: number): Progress {
  const progress: { phase: ConnectionPhase; readonly dialledAt: number } = {
    phase: isIP(host) === 0 ? 'dns' : 'connect',
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
  /** Bytes read when the present request took it over. */
  readBefore: number
}

/** What we know of each connection of Node's agents beyond their own. */
export interface ConnectionsProgress {
  /** Follows a connection from the moment that it is dialled. */
  follow(socket: Socket, host: string, isTls: boolean): void
  noteReuse(socket: object): void
  /** Milliseconds since it was dialled. */
  age(socket: object): number
  /** Without a request, what has failed is our own making of it: that is no fault of the connection. */
  phaseOf(request: ClientRequest | undefined): ConnectionPhase
  /** The request went over a connection that was used before, and not a byte has come back for it. */
  isUntouchedReuse(request: ClientRequest | undefined): boolean
}

export function createConnectionsProgress(clock: Pick<Clock, 'monotonic'>): ConnectionsProgress {
  const known = new WeakMap<object, Connection>()

  return {
    follow(socket, host, isTls) {
      known.set(socket, { progress: followProgress(socket, host, isTls, clock.monotonic()), readBefore: 0 })
    },
    noteReuse(socket) {
      const connection = known.get(socket)
      if (connection !== undefined) connection.readBefore = (socket as Socket).bytesRead
    },
    age: socket => clock.monotonic() - (known.get(socket)?.progress.dialledAt ?? Number.NEGATIVE_INFINITY),
    phaseOf(request) {
      if (request === undefined || request.reusedSocket) return 'exchange'
      return (request.socket && known.get(request.socket)?.progress.phase) ?? 'connect'
    },
    isUntouchedReuse(request) {
      if (!request?.reusedSocket) return false
      // No socket: it broke before Node handed it to the request.
      return !request.socket || request.socket.bytesRead === known.get(request.socket)?.readBefore
    },
  }
}
