import type { FastifyReply, FastifyRequest } from 'fastify'
import { traceContextIn, traceIdOf } from '../../core/trace/context.ts'
import type { TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { Answer } from './answers.ts'
import type { HttpServer } from './http-server.ts'

/** Makes the answer to a request; `trace`: what it is a part of, undefined without traces. Undefined: the sender has gone. */
type Take = (trace: TraceContext | undefined) => Promise<Answer | undefined>

/** Has a request of a route taken. What it rejects with is yet to be answered. */
export type TakeTraced = (
  route: string,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  take: Take,
) => Promise<Answer | undefined>

/** With a tracer each request is a span: a part of the trace that its sender names, or else of one that begins here. */
export function createTakeTraced(tracer: Tracer | undefined, fail: HttpServer['fail']): TakeTraced {
  if (tracer === undefined) return (_route, _exchange, take) => take(undefined)
  return async (route, { request, reply }, take) => {
    const { method, headers } = request.raw
    const facts = { 'http.request.method': method as string, 'http.route': route }
    const parent = traceContextIn(headers)
    const span = tracer.start({ name: `${method} ${route}`, kind: 'server', facts, parent })
    try {
      const answer = await take(span.context)
      if (answer === undefined) span.end({}, 'gone')
      else span.end({ 'http.response.status_code': answer.status }, answer.status < 500 ? undefined : answer.code)
      return answer
    } catch (error) {
      span.end({}, 'internal_error')
      fail(request, reply, error, { traceId: traceIdOf(span.context) })
      return undefined
    }
  }
}
