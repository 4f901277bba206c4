import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { bounds, type Finding } from './bounds.ts'
import type { FigureName } from './figure-names.ts'
import type { Figures } from './rows/row.ts'
import { percentile } from './statistics.ts'

export interface Answer {
  readonly ms: number
  readonly isPartial: boolean
}

export interface Question {
  readonly name: string
  /**
   * Path and query of the n-th request. `next` is the field `next` of the previous answer, if it
   * had one.
   */
  readonly path: (n: number, next: string | undefined) => string
}

/** Sends GET requests one after the other. @throws when an answer is not 200 */
export async function ask(url: string, { path }: Question, count: number): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  let next: string | undefined
  for (let n = 0; n < count; n++) {
    const line = `GET ${path(n, next)}`
    const began = performance.now()
    const { status, body } = await askObjects({ url }, line)
    answers.push({ ms: performance.now() - began, isPartial: body?.partial === true })
    if (status !== 200) throw new Error(`the operator API answered ${line} with ${status}: ${JSON.stringify(body)}`)
    next = body?.next
  }
  return answers
}

/** Only complete responses have a limit. */
export function answerFindings(subject: string, answers: readonly Answer[]): readonly Finding[] {
  const all = answers.map(({ ms }) => ms)
  const complete = answers.filter(({ isPartial }) => !isPartial).map(({ ms }) => ms)
  const finding = (what: FigureName, ms: number): Finding => ({ subject, what, unit: 'ms', measured: ms })
  return [
    finding('p50', percentile(all, 0.5)),
    finding('p95', percentile(all, 0.95)),
    finding('slowest', Math.max(...all)),
    { subject, what: 'share of partial responses (1: all)', measured: 1 - complete.length / all.length },
    ...(complete.length === 0
      ? []
      : [{ ...finding('p95 of complete responses', percentile(complete, 0.95)), ...bounds.operatorAnswer }]),
  ]
}

export const answerFigures = (name: string, answers: readonly Answer[]): Figures => {
  const all = answers.map(({ ms }) => ms)
  return {
    request: name,
    'p50 ms': percentile(all, 0.5),
    'p95 ms': percentile(all, 0.95),
    'slowest ms': Math.max(...all),
    partial: answers.filter(({ isPartial }) => isPartial).length,
    of: answers.length,
  }
}
