import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TraceContext, traceContextIn, traceIdOf } from '../../core/trace/context.ts'
import type { SpanFacts, Tracer } from '../../core/trace/tracer.ts'
import type { HttpServer } from './json-api-server.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Handles a request. Resolves with `undefined` when the client has closed the connection. `trace`
 * is `undefined` when tracing is off. The span is discarded unless the handler calls `keepSpan`.
 */
type Handle = (trace: TraceContext | undefined, keepSpan: () => void) => Promise<HttpResponse | undefined>

/**
 * Runs `handle` in a trace span. Resolves with the response to send, or with `undefined` when the
 * caller must not send one. If the promise rejects, the caller must send an error response.
 */
export type RunInSpan = (
  route: string,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  handle: Handle,
) => Promise<HttpResponse | undefined>

/**
 * Returns a function that handles requests in spans. The span of a request without a valid key is
 * discarded. Otherwise, anybody could cause costs in the tracing backend.
 */
export function createRunInSpan(tracer: Tracer | undefined, fail: HttpServer['fail']): RunInSpan {
  if (tracer === undefined) return (_route, _exchange, handle) => handle(undefined, () => undefined)
  return async (route, { request, reply }, handle) => {
    const { method, headers } = request.raw
    const facts = { 'http.request.method': method as string, 'http.route': route }
    const parent = traceContextIn(headers)
    const span = tracer.start({ name: `${method} ${route}`, kind: 'server', facts, parent })
    let isKept = false
    const end = (more: SpanFacts, error?: string): void => {
      if (isKept) span.end(more, error)
    }
    try {
      const answer = await handle(span.context, () => {
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
