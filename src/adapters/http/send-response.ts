import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/ports.ts'
import { crossOrigin } from './cors.ts'
import { type Connections, clearBodyAbortedCallback } from './open-connections.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

/** Sends a response, unless the client has closed the connection. Call it once per request. */
export type Send = (request: FastifyRequest, reply: FastifyReply, answer: HttpResponse) => void

interface Deps {
  readonly connections: Connections
  readonly limits: Pick<HttpLimits, 'linger'>
  readonly clock: Clock
  readonly onAnswer: (answer: HttpResponse) => void
  readonly isCrossOrigin: (url: string) => boolean
}

/** Creates the function that sends all responses. */
export function createSend({ connections, limits, clock, onAnswer, isCrossOrigin }: Deps): Send {
  return (request, reply, answer) => {
    const { raw } = request
    if (!connections.isOpen(raw)) {
      reply.hijack()
      return
    }
    onAnswer(answer)
    const unread = answer.code === 'request_timeout' ? 'not_sent' : unreadBodyOf(raw)
    const isLast = unread !== 'none' || connections.of(raw).isLast || !connections.staysAfter(raw)
    const headers = {
      ...answer.headers,
      ...(isCrossOrigin(raw.url ?? '') && crossOrigin(raw.headers)),
      ...(isLast && { connection: 'close' }),
    }
    if (unread === 'to_read') {
      reply.hijack()
      linger(raw, reply.raw, { ...answer, headers })
    } else
      reply
        .code(answer.status)
        .headers(headers)
        .send(answer.bytes ?? payloadOf(answer.body))
  }

  /**
   * Ends the response only after the rest of the request was read. Otherwise the connection would
   * close, and a TCP reset could lose the response.
   */
  function linger(request: IncomingMessage, response: ServerResponse, { status, headers, body }: HttpResponse): void {
    const connection = connections.of(request)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    response.write(body)
    let bytes = 0
    const end = (): void => {
      cancel()
      clearBodyAbortedCallback(connection, end)
      request.off('data', count)
      response.end()
    }
    const count = (piece: Buffer): void => {
      bytes += piece.length
      if (bytes > limits.linger.bytes) end()
    }
    const cancel = clock.after(limits.linger.time, end)
    connection.onBodyAborted = end
    request
      .on('data', count)
      .once('end', end)
      .once('close', end)
      .on('error', () => {})
  }
}

/**
 * Returns a long body as bytes. For a text, Node reserves up to three bytes per character until the
 * client has read it.
 */
const payloadOf = (body: string): string | Buffer => (body.length > longBody ? Buffer.from(body) : body)

const longBody = 16_384

/**
 * Maximum Content-Length of an unread body that Node discards, so that the connection can stay
 * open.
 */
const smallBody = 65_536

/**
 * Classifies the unread part of a request body. `none`: everything was read, or Node discards the
 * unread part. `not_sent`: the client does not send this part. `to_read`: the server must read this
 * part before it closes the connection.
 */
function unreadBodyOf(request: IncomingMessage): 'none' | 'not_sent' | 'to_read' {
  const { headers } = request
  if (request.complete) return 'none'
  // The client waits for `100 Continue`, which was not sent. After a final response, it does not
  // send the body.
  if (headers.expect !== undefined && !request.readableDidRead) return 'not_sent'
  if (request.readableDidRead || headers['transfer-encoding'] !== undefined) return 'to_read'
  return Number(headers['content-length'] ?? 0) > smallBody ? 'to_read' : 'none'
}
