import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditLog } from '../../core/operator/audit-log.ts'
import type { FailureThrottle } from '../../core/operator/authentication-failure-throttle.ts'
import { objectRefusal } from '../../core/operator/object-refusal.ts'
import type { Operator, OperatorSessions } from '../../core/operator/signed-session-tokens.ts'
import { sessionPath } from './api-paths-and-methods.ts'
import { auditedOf, forBrowsers, type Guard, type Handler } from './authenticate-and-audit-requests.ts'
import { clientAddressOf } from './client-address.ts'
import { isOfOtherOrigin } from './is-of-other-origin.ts'
import type { HttpServer } from './json-api-server.ts'
import { createReadObjectBody, type RequestBodyDeps } from './json-object-body.ts'
import { notSignedIn, otherOrigin, tooManyFailures } from './operator-authentication.ts'
import { withoutQuery } from './refuse-query-and-set-etag.ts'
import type { RunInSpan } from './request-span.ts'
import { type HttpResponse, objectProblem, ok, problem, toObjectFormat } from './response-codes-and-bodies.ts'
import { deleteCookie, sessionTokenIn, setCookie } from './session-cookie.ts'

interface Deps extends RequestBodyDeps, Pick<HttpServer, 'app' | 'send' | 'fail'> {
  readonly runInSpan: RunInSpan
  readonly guard: Guard
  readonly sessions: () => OperatorSessions
  readonly throttle: FailureThrottle
  readonly clientAddressHeader: string | undefined
  readonly audit: AuditLog
}

/** Maximum bytes of the body of a sign-in. An operator key has at most 4,096 characters. */
const maxSignInBytes = 16_384

/** Adds the routes with which the console signs in, shows who is signed in, and signs out. */
export function addSessionRoutes({
  app,
  send,
  fail,
  runInSpan,
  guard,
  sessions,
  throttle,
  clientAddressHeader,
  audit,
  ...deps
}: Deps): void {
  const { clock } = deps
  const readBody = createReadObjectBody({ ...deps, maxBodyBytes: maxSignInBytes })

  async function signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    keepSpan: () => void,
  ): Promise<HttpResponse | undefined> {
    const { headers } = request.raw
    const address = clientAddressOf(request.raw, clientAddressHeader)
    if (isOfOtherOrigin(headers)) return toObjectFormat(otherOrigin)
    const body = await readBody(request.raw, reply.raw)
    if (body.kind === 'refused') return body.answer
    const { key, ...others } = body.value
    if (typeof key !== 'string' || Object.keys(others).length > 0) return notOneKey
    // This check must run after the body was read. Otherwise concurrent sign-ins could all pass the
    // check before the first wrong key is counted.
    const retryAfter = throttle.secondsToWait(address, clock.monotonic())
    if (retryAfter > 0) return toObjectFormat(tooManyFailures(retryAfter))
    const id = clock.id()
    const begun = sessions().begin(key, id, clock.now())
    if (begun === undefined) {
      throttle.failed(address, clock.monotonic())
      return toObjectFormat(wrongKey)
    }
    keepSpan()
    throttle.succeeded(address, begun.token)
    audit({ ...auditedOf(begun.operator), requestId: id, action: 'sign_in', result: 'ok' })
    const answer = ok(JSON.stringify(shown(begun.operator)))
    const cookie = setCookie(begun.token, headers)
    return { ...answer, headers: { ...answer.headers, ...forBrowsers, ...cookie, 'x-request-id': id } }
  }

  const show: Handler = async ({ key }) => ({ answer: ok(JSON.stringify(shown(key))) })
  const signOut: Handler = async ({ request }) => ({
    answer: { code: 'ok', status: 204, headers: deleteCookie(request.raw.headers), body: '' },
  })

  app.post(sessionPath, (request, reply) => {
    runInSpan(sessionPath, { request, reply }, (_, keepSpan) => signIn(request, reply, keepSpan)).then(
      answer => answer && send(request, reply, answer),
      error => fail(request, reply, error),
    )
  })
  const guardedShow = guard(sessionPath, withoutQuery(show), { toRouteFormat: toObjectFormat })
  app.get(sessionPath, (request, reply) => {
    // Before the console shows the sign-in page, it sends this request with neither a key nor a
    // cookie. The throttle of wrong keys must not count this request.
    const { headers } = request.raw
    const isAnonymous = headers.authorization === undefined && sessionTokenIn(headers) === undefined
    if (isAnonymous) send(request, reply, toObjectFormat(notSignedIn))
    else guardedShow(request, reply)
  })
  app.delete(
    sessionPath,
    guard(sessionPath, signOut, { action: 'sign_out', isForEveryRole: true, toRouteFormat: toObjectFormat }),
  )
}

const shown = ({ name, role, session }: Operator): object => ({ name, role, csrfToken: session?.csrfToken })

const wrongKey = problem(
  'invalid_operator_key',
  'This operator key is not valid: use a key of operator.keys in the configuration.',
)
const notOneKey = objectProblem(
  objectRefusal('invalid_body', 'The body is not valid: see "problems".', {
    problems: [
      { path: 'key', message: 'must be a string, and the only field of the body', hint: 'send { "key": "…" }' },
    ],
  }),
)
