import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/ports.ts'
import type { Answer } from './answers.ts'
import { crossOrigin } from './cors.ts'
import type { Connections } from './open-connections.ts'
import type { HttpLimits } from './server-limits.ts'

/** Writes an answer; called once a request. */
export type Send = (request: FastifyRequest, reply: FastifyReply, answer: Answer) => void

interface Deps {
  readonly connections: Connections
  readonly limits: Pick<HttpLimits, 'linger'>
  readonly clock: Clock
  readonly onAnswer: (answer: Answer) => void
  readonly isCrossOrigin: (url: string) => boolean
}

/** Every answer to a request goes this way: with what pages need to read it, and the connection kept or closed as it must be. */
export function createSend({ connections, limits, clock, onAnswer, isCrossOrigin }: Deps): Send {
  return (request, reply, answer) => {
    const { raw } = request
    onAnswer(answer)
    const rest = answer.code === 'request_timeout' ? 'not_sent' : restOf(raw)
    const isLast = rest !== 'none' || connections.of(raw).isLast || !connections.staysAfter(raw)
    const headers = {
      ...answer.headers,
      ...(isCrossOrigin(raw.url ?? '') && crossOrigin(raw.headers)),
      ...(isLast && { connection: 'close' }),
    }
    if (rest === 'to_read') {
      reply.hijack()
      linger(raw, reply.raw, { ...answer, headers })
    } else reply.code(answer.status).headers(headers).send(answer.body)
  }

  /**
   * The answer is all there, with its length, but not ended: that would close the connection, and reset it if anything is
   * unread, so that a sender who writes first and reads then would see no answer at all.
   */
  function linger(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
    const connection = connections.of(request)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    response.write(body)
    let bytes = 0
    const end = (): void => {
      cancel()
      connection.onBroken = undefined
      request.off('data', count)
      response.end()
    }
    const count = (piece: Buffer): void => {
      bytes += piece.length
      if (bytes > limits.linger.bytes) end()
    }
    const cancel = clock.after(limits.linger.time, end)
    connection.onBroken = end
    request
      .on('data', count)
      .once('end', end)
      .once('close', end)
      .on('error', () => {})
  }
}

/** Node reads so much of a body that nobody wanted by itself, and the connection stays. */
const smallBody = 65_536

/** What is to become of the part of a request's body that has not been read. */
function restOf(request: IncomingMessage): 'none' | 'not_sent' | 'to_read' {
  const { headers } = request
  if (request.complete) return 'none'
  // Told the end before being told to go on, the sender keeps its body.
  if (headers.expect !== undefined && !request.readableDidRead) return 'not_sent'
  if (request.readableDidRead || headers['transfer-encoding'] !== undefined) return 'to_read'
  return Number(headers['content-length'] ?? 0) > smallBody ? 'to_read' : 'none'
}
