import type { JsonObject } from '../../core/message/json.ts'
import { deadLetterQueryOf } from '../../core/operator/dead-letter-query.ts'
import type {
  MessageAndDeadLetterAnswer,
  MessageAndDeadLetterApi,
} from '../../core/operator/message-and-dead-letter-api.ts'
import { messageQueryOf } from '../../core/operator/message-timeline-query.ts'
import type { Clock } from '../../core/ports.ts'
import { deadLetterPath, deadLettersPath, messagePath } from './api-paths-and-methods.ts'
import type { Guard, Handler } from './authenticate-and-audit-requests.ts'
import type { HttpServer } from './json-api-server.ts'
import { idIn, invalidQuery, withoutQuery } from './refuse-query-and-set-etag.ts'
import { objectProblem, ok, toObjectFormat } from './response-codes-and-bodies.ts'

interface Deps extends Pick<HttpServer, 'app'> {
  readonly log: MessageAndDeadLetterApi
  readonly guard: Guard
  readonly clock: Pick<Clock, 'now'>
}

export function addMessageAndDeadLetterRoutes({ app, guard, log, clock }: Deps): void {
  const message: Handler = async ({ request }) => {
    const read = messageQueryOf(idIn(request), request.query as JsonObject, clock.now())
    return read.kind === 'invalid' ? { answer: invalidQuery(read.problems) } : answerOf(await log.message(read.query))
  }
  const deadLetters: Handler = async ({ request }) => {
    const read = deadLetterQueryOf(request.query as JsonObject, clock.now())
    if (read.kind === 'invalid') return { answer: invalidQuery(read.problems) }
    return answerOf(await log.deadLetters(read.query))
  }
  const deadLetter: Handler = async ({ request, key: { role } }) =>
    answerOf(await log.deadLetter((request.params as { readonly key: string }).key, role === 'operate'))

  for (const [path, handle] of [
    [messagePath, message],
    [deadLettersPath, deadLetters],
    [deadLetterPath, withoutQuery(deadLetter)],
  ] as const)
    app.get(path, guard(path, handle, { toRouteFormat: toObjectFormat }))
}

const answerOf = (answer: MessageAndDeadLetterAnswer<object>) => ({
  answer: answer.kind === 'refused' ? objectProblem(answer) : ok(JSON.stringify(answer.body)),
})
