import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { briefly, expectAnswer, play, problem, type RawCase } from '../collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../collector/scripted-tracking-api.ts'
import { type Fields, request } from '../network/http-request-bytes.ts'
import { connect } from '../network/raw-http-client.ts'
import { operatorKey, ScriptedOperatorApi } from './scripted-deletion-and-audience-api.ts'
import { startOperator } from './server.ts'

export const asOperator: Fields = { Authorization: `Bearer ${operatorKey}` }
export const noKey = problem(401, 'invalid_operator_key', { headers: { 'www-authenticate': 'Bearer' } })

export const ask = (line: string, body: string | Buffer = '', headers: Fields = {}): Buffer =>
  request(line, { ...asOperator, ...headers }, body)

/** `asked` are the expected calls of the operator API, by default none. */
export interface OperatorCase extends RawCase {
  readonly asked?: readonly string[]
  readonly lines?: readonly string[]
  /** The expected reason why the server did not read all members of a sync. Absent: it read all. */
  readonly cutShort?: string
}

/**
 * Runs the cases on one server. After each case, the server must respond, and have no memory
 * reserved for bodies.
 */
export function operatorCases(
  cases: readonly OperatorCase[],
  options: Parameters<typeof startOperator>[1] = {},
): { readonly operator: ScriptedOperatorApi } {
  const operator = new ScriptedOperatorApi()
  // Used only to count the bytes that the server reserves for bodies.
  const api = new ScriptedTrackingApi()
  let server: Awaited<ReturnType<typeof startOperator>>
  beforeAll(async () => {
    const limits = { linger: briefly, ...options.limits }
    server = await startOperator(operator, { ...options, limits, memory: api })
  })
  afterAll(() => server.stop())
  afterEach(() => {
    operator.forget()
    api.forget()
  })

  it.each(cases)('$name', async ({ asked = [], lines = [], cutShort, ...row }) => {
    const wire = await connect(server.url)
    await play(row, wire, api)
    if (row.closed === true || row.answers.at(-1)?.close === true) await wire.closed
    wire.reset()
    await operator.until(() => operator.cutShort === cutShort)
    expect({ asked: operator.asked, lines: operator.lines, interim: wire.interim }).toEqual({
      ...{ asked, lines },
      interim: row.interim ?? [],
    })
    await expectServing(server.url, api)
  })
  return { operator }
}

async function expectServing(url: string, api: ScriptedTrackingApi): Promise<void> {
  const wire = await connect(url)
  await wire.send(ask('GET /v1/regulations/d-1', '', { Connection: 'close' }))
  expectAnswer(await wire.answer(), { status: 200, close: true })
  await wire.closed
  wire.reset()
  await api.until(() => api.reserved === 0)
}
