import { setTimeout as delay } from 'node:timers/promises'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'

export interface OperatorRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  /** Version that the object must have. */
  readonly ifMatch?: number
}

/** The operator processes, or one address that leads to any of them. */
export interface Operators {
  /** The processes that run now. `operator` is the URL of the process. */
  members(): readonly { readonly name: string; readonly service: { readonly operator?: string | undefined } }[]
}

/**
 * Sends a request to the operator processes in turn until one responds with a status below 500.
 * @throws if the status is not 200, 201 or 202, or after the time limit
 */
// biome-ignore lint/suspicious/noExplicitAny: each path has its own form of body.
export type AskOperators = (request: OperatorRequest) => Promise<any>

/** Time between two tries, in ms. */
const againAfterMs = 200
/** Time limit of one try, in ms. */
const answerMs = 20_000

export function createOperatorClient(operators: Operators, patienceMs: number): AskOperators {
  let turn = 0
  return async request => {
    const { method = 'GET', path } = request
    const deadline = performance.now() + patienceMs
    for (;;) {
      const running = operators.members()
      const url = running[turn++ % running.length]?.service.operator
      const answer = url === undefined ? undefined : await answerOf(url, request)
      if (answer !== undefined && answer.status < 500) {
        if (answer.status >= 200 && answer.status <= 202) return JSON.parse(answer.text)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      }
      if (performance.now() > deadline)
        throw new Error(`${method} ${path}: ${answer === undefined ? 'no response' : answer.text}`)
      await delay(againAfterMs)
    }
  }
}

export interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends a request once. Resolves with undefined if the process ends before it has responded. */
export async function answerOf(url: string, request: OperatorRequest): Promise<Answer | undefined> {
  const { method = 'GET', path, body, idempotencyKey, ifMatch } = request
  try {
    const response = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(answerMs),
      headers: {
        authorization: `Bearer ${operatorKey}`,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}
