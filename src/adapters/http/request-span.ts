import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TraceContext, traceContextIn, traceIdOf } from '../../core/trace/context.ts'
import type { SpanFacts, Tracer } from '../../core/trace/tracer.ts'
import type { HttpServer } from './json-api-server.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Handles a request and returns its response, or `undefined` when the client has closed the
 * connection. `trace` is the context of the request's span; `undefined` when tracing is off. The
 * handler calls `keepSpan` when it has found a valid key in the request. Without this call, the
 * span is discarded.
 */
type Take = (trace: TraceContext | undefined, keepSpan: () => void) => Promise<HttpResponse | undefined>

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
 * that its client names, or in a new one. The span of a request without a valid key is discarded.
 * Otherwise anybody could fill the queue of spans, and cause costs in the tracing backend.
 */
export function createRunInSpan(tracer: Tracer | undefined, fail: HttpServer['fail']): RunInSpan {
  if (tracer === undefined) return (_route, _exchange, take) => take(undefined, () => undefined)
  return async (route, { request, reply }, take) => {
    const { method, headers } = request.raw
    const facts = { 'http.request.method': method as string, 'http.route': route }
    const parent = traceContextIn(headers)
    const span = tracer.start({ name: `${method} ${route}`, kind: 'server', facts, parent })
    let isKept = false
    const end = (more: SpanFacts, error?: string): void => {
      if (isKept) span.end(more, error)
    }
    try {
      const answer = await take(span.context, () => {
        isKept = true
      })
      if (answer === undefined) end({}, 'gone')
      else end({ 'http.response.status_code': answer.status }, answer.status < 500 ? undefined : answer.code)
      return answer
    } catch (error) {
      end({}, 'internal_error')
      fail(request, reply, error, { traceId: traceIdOf(span.context) })
      return undefined
    }
  }
}
