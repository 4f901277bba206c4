import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TraceContext, traceContextIn, traceIdOf } from '../../core/trace/context.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { HttpServer } from './json-api-server.ts'
import type { HttpResponse } from './responses.ts'

/**
 * Handles a request and returns its response, or `undefined` when the client has closed the
 * connection. `trace` is the context of the request's span; `undefined` when tracing is off.
 */
type Take = (trace: TraceContext | undefined) => Promise<HttpResponse | undefined>

/**
 * Runs the handler of a route in a span. Resolves with the response that the caller must send;
 * `undefined` when it must not send one. If the promise rejects, no response was sent, and the
 * caller must send an error response.
 */
export type RunInSpan = (
  route: string,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  take: Take,
) => Promise<HttpResponse | undefined>

/**
 * Creates the function that runs handlers. With a tracer, each request has a span: in the trace
 * that its client names, or in a new one.
 */
export function createRunInSpan(tracer: Tracer | undefined, fail: HttpServer['fail']): RunInSpan {
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
