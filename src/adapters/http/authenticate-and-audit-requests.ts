import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditFields, AuditLog } from '../../core/operator/audit-log.ts'
import type { Operator } from '../../core/operator/signed-session-tokens.ts'
import type { Clock } from '../../core/ports.ts'
import type { TraceContext } from '../../core/trace/context.ts'
import type { HttpServer } from './json-api-server.ts'
import type { AuthenticateOperator } from './operator-authentication.ts'
import type { RunInSpan } from './request-span.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

export interface OperatorGate {
  readonly gate: AuthenticateOperator
  readonly audit: AuditLog
}

export interface Asked {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The operator key of the request or of its session. */
  readonly key: Operator
  /** `undefined` when tracing is off. */
  readonly trace: TraceContext | undefined
}

/**
 * A response, and the fields for the audit log. `answer` is `undefined` when the client has closed
 * the connection.
 */
export interface Handled {
  readonly answer: HttpResponse | undefined
  readonly change?: AuditFields
}

export type Handler = (asked: Asked) => Promise<Handled>

export interface GuardDeps extends Pick<HttpServer, 'send' | 'fail'> {
  readonly runInSpan: RunInSpan
  readonly clock: Pick<Clock, 'id'>
  /**
   * The authentication and the audit log. If the operator API is off on this listener: the response
   * that all routes of the API send.
   */
  readonly operator: OperatorGate | HttpResponse
}

interface Options {
  /** The name of the change in the audit log; `undefined` when the route changes nothing. */
  readonly action?: string | undefined
  /** Whether the role `read` may use the route with every method, not only with GET and HEAD. */
  readonly isForEveryRole?: boolean
  /** Converts error responses of the authentication to the format of the route. */
  readonly toRouteFormat?: (answer: HttpResponse) => HttpResponse
}

/** Wraps a route handler with the authentication, a trace span and the audit log. */
export type Guard = (
  route: string,
  handle: Handler,
  options?: Options,
) => (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Creates a guard, which calls a handler only after it has checked the operator key or session.
 * Each change, even a forbidden one, writes one line to the audit log.
 */
export function createGuard({ send, fail, runInSpan, clock, operator }: GuardDeps): Guard {
  async function admitted(
    asked: Omit<Asked, 'key'>,
    keepSpan: () => void,
    handle: Handler,
    { action, isForEveryRole, toRouteFormat = answer => answer }: Options,
  ): Promise<HttpResponse | undefined> {
    if ('status' in operator) return operator
    const found = operator.gate(asked.request.raw, isForEveryRole)
    if (found.kind === 'unauthenticated') return toRouteFormat(found.answer)
    keepSpan()
    const key = found.operator
    const requestId = clock.id()
    const audit = (change: AuditFields, result: string): void => {
      if (action !== undefined) operator.audit({ ...auditedOf(key), requestId, action, ...change, result })
    }
    const withId = (answer: HttpResponse): HttpResponse => {
      const headers = { ...(key.session !== undefined && forBrowsers), 'x-request-id': requestId }
      return { ...answer, headers: { ...answer.headers, ...headers } }
    }
    if (found.kind === 'forbidden') {
      audit({}, found.answer.code)
      return withId(toRouteFormat(found.answer))
    }
    try {
      const { answer, change = {} } = await handle({ ...asked, key })
      audit(change, answer?.code ?? 'gone')
      return answer && withId(answer)
    } catch (error) {
      audit({}, 'internal_error')
      throw error
    }
  }

  return (route, handle, options = {}) =>
    (request, reply) => {
      runInSpan(route, { request, reply }, (trace, keepSpan) =>
        admitted({ request, reply, trace }, keepSpan, handle, options),
      ).then(
        answer => answer && send(request, reply, answer),
        error => fail(request, reply, error),
      )
    }
}

/** Browsers must not store customer data or guess the content type. */
export const forBrowsers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

/** The operator in the audit log: the key, and the session if there is one. */
export const auditedOf = ({ name, role, session }: Operator): AuditFields => ({
  key: name,
  role,
  session: session?.id,
})
