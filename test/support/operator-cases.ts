import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { briefly, expectHealthy, play, problem, type RawCase, startCollector } from './collector-cases.ts'
import { type Fields, request } from './http-bytes.ts'
import { operatorKey, ScriptedOperatorApi } from './scripted-operator-api.ts'
import { ScriptedTrackingApi } from './scripted-tracking-api.ts'
import { connect } from './wire.ts'

/** The header of an operator. */
export const asOperator: Fields = { Authorization: `Bearer ${operatorKey}` }
export const noKey = problem(401, 'invalid_operator_key', { headers: { 'www-authenticate': 'Bearer' } })

/** A request of an operator. */
export const ask = (line: string, body: string | Buffer = '', headers: Fields = {}): Buffer =>
  request(line, { ...asOperator, ...headers }, body)

/** A row, and what it comes to behind the routes; nothing unless given. */
export interface OperatorCase extends RawCase {
  readonly asked?: readonly string[]
  readonly lines?: readonly string[]
  /** Why the list did not come to its end. */
  readonly cutShort?: string
}

/** One server for all cases; after each it must still serve, and hold no memory. */
export function operatorCases(
  cases: readonly OperatorCase[],
  { hasKey = true, ...options }: Parameters<typeof startCollector>[1] & { readonly hasKey?: boolean } = {},
): { readonly operator: ScriptedOperatorApi } {
  const operator = new ScriptedOperatorApi()
  const api = new ScriptedTrackingApi()
  let collector: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    const limits = { linger: briefly, ...options.limits }
    collector = await startCollector(api, { ...options, limits, ...(hasKey && { operator }) })
  })
  afterAll(() => collector.stop())
  afterEach(() => {
    operator.forget()
    api.forget()
  })

  it.each(cases)('$name', async ({ asked = [], lines = [], cutShort, ...row }) => {
    const wire = await connect(collector.url)
    await play(row, wire, api)
    if (row.closed === true || row.answers.at(-1)?.close === true) await wire.closed
    wire.reset()
    await operator.until(() => operator.cutShort === cutShort)
    expect({ asked: operator.asked, lines: operator.lines, interim: wire.interim }).toEqual({
      ...{ asked, lines },
      interim: row.interim ?? [],
    })
    await expectHealthy(collector.url, api)
  })
  return { operator }
}
