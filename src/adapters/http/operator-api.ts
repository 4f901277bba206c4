import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditLog, OperatorApi } from '../../core/operator-api.ts'
import type { TraceContext } from '../../core/trace/tracer.ts'
import { type Answer, problem } from './answers.ts'
import type { HttpServer } from './http-server.ts'
import type { OperatorGate } from './operator-gate.ts'
import { createOperatorHandlers, type Handler, type HandlerDeps } from './operator-handlers.ts'
import { deletionPath, deletionsPath, syncsPath } from './paths.ts'
import type { TakeTraced } from './traced.ts'

interface Deps extends HandlerDeps, Pick<HttpServer, 'app' | 'send' | 'fail'> {
  readonly takeTraced: TakeTraced
  /** Undefined: the operator API is off on this listener. */
  readonly operator: Operator | undefined
}

/** What stands behind the routes, who may use them, and where changes are written. */
export interface Operator {
  readonly api: OperatorApi
  readonly gate: OperatorGate
  readonly audit: AuditLog
}

/** Of a change: what the audit log calls it. */
type Action = 'delete_users' | 'sync_audience'

/** Adds the routes for operators. Without a right key nothing of a body is read, and no answer says what there is. */
export function addOperatorRoutes({ operator, ...deps }: Deps): void {
  const { app, send, fail, takeTraced, clock } = deps
  const { deleteUsers, findDeletion, sync } = createOperatorHandlers(deps)

  const guarded =
    (route: string, handle: Handler, action?: Action) =>
    (request: FastifyRequest, reply: FastifyReply): void => {
      const answered = (trace: TraceContext | undefined) => admitted({ request, reply, trace }, handle, action)
      takeTraced(route, { request, reply }, answered).then(
        answer => answer && send(request, reply, answer),
        error => fail(request, reply, error),
      )
    }

  async function admitted(
    asked: Omit<Parameters<Handler>[0], 'operator'>,
    handle: Handler,
    action: Action | undefined,
  ): Promise<Answer | undefined> {
    if (operator === undefined) return apiIsOff
    const key = operator.gate(asked.request.raw)
    if ('status' in key) return key
    const requestId = clock.id()
    const audit = (change: object, result: string): void => {
      if (action !== undefined) operator.audit({ key: key.name, role: key.role, requestId, action, ...change, result })
    }
    try {
      const { answer, change = {} } = await handle({ ...asked, operator: operator.api })
      audit(change, answer?.code ?? 'gone')
      return answer && { ...answer, headers: { ...answer.headers, 'x-request-id': requestId } }
    } catch (error) {
      audit({}, 'internal_error')
      throw error
    }
  }

  app.post(deletionsPath, guarded(deletionsPath, deleteUsers, 'delete_users'))
  app.get(deletionPath, guarded(deletionPath, findDeletion))
  app.post(syncsPath, guarded(syncsPath, sync, 'sync_audience'))
}

const apiIsOff = problem(
  'not_found',
  'The operator API is not on this listener: see operator.listen in the configuration.',
)
