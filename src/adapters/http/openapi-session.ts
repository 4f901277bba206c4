import { sessionPath } from './api-paths-and-methods.ts'
import { text } from './openapi-basic-schemas.ts'
import { json } from './openapi-responses-and-references.ts'
import { type ProblemCode, problemStatus } from './response-codes-and-bodies.ts'

/* The paths with which the console signs in, as OpenAPI 3.1. */

const session = {
  type: 'object',
  required: ['name', 'role'],
  properties: {
    name: { ...text, description: 'Name of the operator key.' },
    role: { enum: ['read', 'operate'] },
    csrfToken: {
      ...text,
      description:
        'The CSRF token of the session. Each request with the session cookie, except GET and HEAD, needs this token in the header `X-CSRF-Token`. Absent for a request with an operator key.',
    },
  },
} as const

function refused(description: string, ...codes: readonly [ProblemCode, ...ProblemCode[]]): object {
  const body = {
    type: 'object',
    required: ['code', 'message', 'problems'],
    properties: { code: { enum: codes }, message: text, problems: { type: 'array' } },
  }
  return { [problemStatus[codes[0]]]: { description, content: json(body) } }
}

const throttled = refused(
  'Too many requests had a wrong key: send the next request after the time in `Retry-After`.',
  'rate_limited',
)
const notSignedIn = refused(
  'The session is missing or has ended, or the operator key is wrong.',
  'invalid_session',
  'invalid_operator_key',
)
const otherOrigin = refused('A page of another origin sent the request.', 'cross_origin')

export const sessionPaths = {
  [sessionPath]: {
    post: {
      operationId: 'signIn',
      summary: 'Sign in with an operator key',
      description:
        'The console signs in with this request; programs send their key with each request instead. The response sets the cookie `hookline_session`. If the header Host has a port, the name of the cookie ends in `_` and the port, for example `hookline_session_8090`. The session ends after 12 hours, at the sign-out, or when its operator key is removed or rotated.',
      tags: ['sessions'],
      security: [],
      requestBody: {
        required: true,
        content: json({
          type: 'object',
          required: ['key'],
          additionalProperties: false,
          properties: {
            key: { ...text, description: 'An operator key: a key of `operator.keys` in the configuration.' },
          },
        }),
      },
      responses: {
        200: { description: 'The session has begun.', content: json(session) },
        ...refused('The body is not a JSON object with the field `key`.', 'invalid_json', 'invalid_body'),
        ...refused('The key is wrong.', 'invalid_operator_key'),
        ...otherOrigin,
        ...refused('The body has more than 16 KiB.', 'payload_too_large'),
        ...throttled,
      },
    },
    get: {
      operationId: 'session',
      summary: 'Show who is signed in',
      tags: ['sessions'],
      responses: {
        200: { description: 'The name and the role of the operator key.', content: json(session) },
        ...notSignedIn,
        ...otherOrigin,
        ...throttled,
      },
    },
    delete: {
      operationId: 'signOut',
      summary: 'Sign out: delete the cookie',
      tags: ['sessions'],
      responses: {
        204: { description: 'The cookie is deleted.' },
        ...notSignedIn,
        ...refused(
          'The CSRF token is wrong, or a page of another origin sent the request.',
          'invalid_csrf_token',
          'cross_origin',
        ),
        ...throttled,
      },
    },
  },
}
