import type { IncomingMessage, ServerResponse } from 'node:http'
import { assertNever } from '../../core/assert-never.ts'
import type { TrackingApi } from '../../core/collector/tracking-api.ts'
import { maxNesting } from '../../core/message/canonical-json.ts'
import { isObject, type JsonObject } from '../../core/message/json.ts'
import { parseField } from '../../core/message/parse-message-json.ts'
import { type StructureProblem, structureProblem } from '../../core/operator/json-structure-problem.ts'
import { objectRefusal, type ShownProblem } from '../../core/operator/object-refusal.ts'
import type { Clock } from '../../core/ports.ts'
import { formatPath } from '../../core/settings/settings-problem.ts'
import { createReservation } from './body-memory-reservation.ts'
import type { Connections } from './open-connections.ts'
import { readBody } from './read-body.ts'
import { type HttpResponse, objectProblem, toObjectFormat } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

export interface RequestBodyDeps {
  readonly connections: Connections
  readonly memory: Pick<TrackingApi, 'reserve' | 'release'>
  readonly maxBodyBytes: number
  readonly limits: HttpLimits
  readonly clock: Clock
}

type ObjectBody =
  | { readonly kind: 'object'; readonly value: JsonObject }
  /** `answer` is `undefined` when the client has closed the connection. */
  | { readonly kind: 'refused'; readonly answer: HttpResponse | undefined }

/** Reads a body that must be a JSON object. An empty body is read as `ifEmpty`, if given. */
export type ReadObjectBody = (
  request: IncomingMessage,
  response: ServerResponse,
  ifEmpty?: JsonObject,
) => Promise<ObjectBody>

export function createReadObjectBody({
  connections,
  memory,
  maxBodyBytes,
  limits,
  clock,
}: RequestBodyDeps): ReadObjectBody {
  return async (request, response, ifEmpty) => {
    const reservation = createReservation(memory)
    try {
      const about = { memory: reservation, progress: limits.progress, clock, connection: connections.of(request) }
      const body = await readBody(request, response, { ...about, maxBytes: maxBodyBytes })
      switch (body.kind) {
        case 'gone':
          return { kind: 'refused', answer: undefined }
        case 'refused':
          return { kind: 'refused', answer: toObjectFormat(body.answer) }
        case 'read':
          return ifEmpty !== undefined && body.text === '' ? { kind: 'object', value: ifEmpty } : parsed(body.text)
        default:
          return assertNever(body)
      }
    } finally {
      reservation.release()
    }
  }
}

function parsed(text: string): ObjectBody {
  const document = parseField(text, 'The body')
  if (document.kind === 'rejected') return refused('invalid_json', document.message, wholeBody(notJson))
  const wrong = structureProblem(text)
  if (wrong !== undefined) {
    const problem = { path: formatPath(wrong.path), ...structureTexts[wrong.kind] }
    return refused('invalid_json', 'The body is JSON that Hookline does not accept: see "problems".', problem)
  }
  return isObject(document.value)
    ? { kind: 'object', value: document.value }
    : refused('invalid_body', 'The body must be a JSON object.', wholeBody(notObject))
}

const refused = (code: 'invalid_json' | 'invalid_body', message: string, problem: ShownProblem): ObjectBody => ({
  kind: 'refused',
  answer: objectProblem(objectRefusal(code, message, { problems: [problem] })),
})

type Texts = Omit<ShownProblem, 'path'>
const wholeBody = (texts: Texts): ShownProblem => ({ path: '', ...texts })
const notJson: Texts = { message: 'the body is not JSON', hint: 'send one JSON object' }
const notObject: Texts = { message: 'the body is not a JSON object', hint: 'send one JSON object' }
const structureTexts: Readonly<Record<StructureProblem['kind'], Texts>> = {
  duplicate_key: { message: 'is a duplicate key', hint: 'remove this key or the earlier one' },
  reserved_key: { message: 'is a reserved key, which Hookline does not accept', hint: 'remove this key' },
  too_deep: { message: `is nested more than ${maxNesting} levels deep`, hint: 'flatten it' },
  lone_surrogate: {
    message: 'contains half of a Unicode surrogate pair, for example \\ud83d alone',
    hint: 'send both halves of the surrogate pair, for example \\ud83d\\ude00, or remove this half',
  },
}
