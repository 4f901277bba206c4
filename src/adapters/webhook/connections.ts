import type { ClientRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { CallPhase, Clock } from '../../core/ports.ts'

/** How far a connection has come: what is being waited for, and what has failed when it breaks. */
export type ConnectionPhase = Exclude<CallPhase, 'address' | 'deadline'>

interface Connection {
  phase: ConnectionPhase
  readonly dialledAt: number
  /** Bytes read when the present request took it over. */
  readBefore: number
}

/** What we know of each connection beyond Node's own. */
export interface Connections {
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

export function createConnections(clock: Pick<Clock, 'monotonic'>): Connections {
  const known = new WeakMap<object, Connection>()

  return {
    follow(socket, host, isTls) {
      const phase = isIP(host) === 0 ? 'dns' : 'connect'
      const connection: Connection = { phase, dialledAt: clock.monotonic(), readBefore: 0 }
      known.set(socket, connection)
      const enter = (next: ConnectionPhase) => () => {
        connection.phase = next
      }
      socket.once('lookup', enter('connect'))
      socket.once('connect', enter(isTls ? 'tls' : 'exchange'))
      if (isTls) socket.once('secureConnect', enter('exchange'))
    },
    noteReuse(socket) {
      const connection = known.get(socket)
      if (connection !== undefined) connection.readBefore = (socket as Socket).bytesRead
    },
    age: socket => clock.monotonic() - (known.get(socket)?.dialledAt ?? Number.NEGATIVE_INFINITY),
    phaseOf(request) {
      if (request === undefined || request.reusedSocket) return 'exchange'
      return (request.socket && known.get(request.socket)?.phase) ?? 'connect'
    },
    isUntouchedReuse(request) {
      if (!request?.reusedSocket) return false
      // No socket: it broke before Node handed it to the request.
      return !request.socket || request.socket.bytesRead === known.get(request.socket)?.readBefore
    },
  }
}
