import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Admission, ConnectionLimiter } from '../../core/network/server-connection-limiter.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { socketAddressOf } from './client-address.ts'
import type { HttpLimits } from './server-limits.ts'

type Closing = Exclude<Admission<Socket>, { readonly kind: 'accepted' }>

/** Closes the connections that the limiter selects. Servers may share a limiter. */
export function limitConnections(
  server: Server,
  limiter: ConnectionLimiter<Socket>,
  onClosed = (_: Closing): void => {},
): void {
  server.prependListener('connection', (socket: Socket) => {
    const admission = limiter.open(socket, socketAddressOf(socket))
    socket.once('close', () => limiter.close(socket))
    if (admission.kind === 'accepted') return
    if (admission.kind === 'replaces') admission.idle.destroy()
    else socket.destroy()
    onClosed(admission)
  })
}

/**
 * Protects a connection while the server handles a request: the limiter does not close it for a new
 * connection. The time in which a client sends the request or reads the response is not protected,
 * so slow clients cannot keep their connections.
 */
export function protectRequests(server: Server, limiter: ConnectionLimiter<Socket>): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request
    const protect = (): void => {
      // The response to a refused request may be complete before the body of the request is read.
      // The connection then needs no protection.
      if (response.writableEnded) return
      // Node sets the socket of a response when the responses before it were sent.
      if (response.socket === null) return void response.once('socket', protect)
      let isProtected = true
      const end = (): void => {
        if (isProtected) limiter.endRequest(socket)
        isProtected = false
      }
      limiter.startRequest(socket)
      response.once('prefinish', end).once('close', end)
    }
    const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
    if (hasBody) request.once('end', protect)
    else protect()
  })
}

const loggedEveryMs = 60_000

/** Logs, at most once a minute, that connections are closed at the server's maximum. */
export function createMaximumLog(deps: {
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly logger: Logger
}): (closing: Closing) => void {
  const { limits, clock, logger } = deps
  let replaced = 0
  let refused = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return closing => {
    if (closing.kind === 'replaces') replaced += 1
    else if (closing.maximumOf === 'server') refused += 1
    else return
    if (clock.monotonic() - loggedAt < loggedEveryMs) return
    loggedAt = clock.monotonic()
    logger.warn(
      { connections: limits.connections, replaced, refused },
      'an HTTP server of this process has reached its maximum number of connections (see "connections"): run more processes, or find clients that open many connections; since its start, this process closed idle connections for new ones (number: "replaced") and refused new connections (number: "refused")',
    )
  }
}
