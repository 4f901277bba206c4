import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { systemClock } from '../../../src/adapters/clock/clock.ts'
import type { ProblemCode } from '../../../src/adapters/http/answers.ts'
import { createOperatorGate } from '../../../src/adapters/http/operator-gate.ts'
import type { HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { createTrackingServer } from '../../../src/adapters/http/tracking-routes.ts'
import { createMetrics } from '../../../src/adapters/metrics/metrics.ts'
import type { TrackingApi, TrackingRequest } from '../../../src/core/collector/tracking-api.ts'
import type { OperatorApi } from '../../../src/core/operator/operator-api.ts'
import type { Clock, Logger } from '../../../src/core/ports.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import { durationMs } from '../../../src/core/units.ts'
import { post } from '../network/http-bytes.ts'
import { connect, type Wire, type WireAnswer } from '../network/wire.ts'
import { findOperatorKey } from '../operator/scripted-operator-api.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { expectAsDocumented } from './openapi.ts'
import { ScriptedTrackingApi } from './scripted-tracking-api.ts'

/** What an answer has to be, to the last byte but the date. */
export interface ExpectedAnswer {
  readonly status: number
  /** A refusal: its body is made of this and a text. */
  readonly code?: ProblemCode
  /** The exact body. */
  readonly body?: string
  /** Beyond those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
  /** The server says `connection: close` and does it. */
  readonly close?: boolean
  /** Of the request: the answer to HEAD has no body. */
  readonly method?: string
}

export const taken: ExpectedAnswer = { status: 200, body: '{"success":true}' }
export const takenAndClosed: ExpectedAnswer = { ...taken, close: true }
export const problem = (status: number, code: ProblemCode, more: Partial<ExpectedAnswer> = {}): ExpectedAnswer => ({
  status,
  code,
  ...more,
})

/** Bytes to write, or something that has to happen before the next bytes are. */
type Sent = string | Buffer | ((wire: Wire, api: ScriptedTrackingApi) => unknown)

/** One row: the bytes that a test writes to a new connection, and the answer. */
export interface RawCase {
  readonly name: string
  /** One after the other. */
  readonly send: readonly Sent[]
  /** In order. */
  readonly answers: readonly ExpectedAnswer[]
  /** What reached the API, as far as given; absent: whatever did. */
  readonly reached?: readonly Partial<TrackingRequest>[]
  /** Our side is closed after the last write. */
  readonly end?: boolean
  /** The server closes without having said so in an answer. */
  readonly closed?: boolean
  /** Interim statuses that come before. */
  readonly interim?: readonly number[]
}

/** A row of a table. */
export const raw = (
  name: string,
  send: Sent | readonly Sent[],
  answers: ExpectedAnswer | readonly ExpectedAnswer[],
  more: Pick<RawCase, 'reached' | 'end' | 'closed' | 'interim'> = {},
): RawCase => ({ name, send: [send].flat() as Sent[], answers: [answers].flat() as ExpectedAnswer[], ...more })

interface Options {
  /** Behind the deprecated operator API on this listener; absent: it is off. */
  readonly operator?: OperatorApi
  readonly maxBodyBytes?: number
  /** The last call ends immediately unless a test says otherwise. */
  readonly limits?: Partial<HttpLimits>
  readonly logger?: Logger
  readonly port?: number
  readonly host?: string
  readonly tracer?: Tracer | undefined
  readonly clock?: Clock
  readonly clientAddressHeader?: string
}

/** The HTTP side of the collector before an API, on a free port. */
export async function startCollector(
  api: TrackingApi,
  {
    operator,
    maxBodyBytes = 65_536,
    limits = {},
    logger = silent,
    clock = systemClock,
    tracer,
    clientAddressHeader,
    ...listen
  }: Options = {},
) {
  const { metrics, text } = createMetrics()
  const gate = createOperatorGate({ findKey: () => findOperatorKey, clock })
  const server = createTrackingServer({
    listen: { host: '127.0.0.1', port: 0, ...listen },
    api,
    operator: operator && { api: operator, gate, audit: () => {} },
    maxBodyBytes,
    limits: { lastCall: durationMs(1), ...limits },
    clock,
    logger,
    metrics,
    tracer,
    clientAddressHeader,
  })
  const url = await server.start()
  return {
    url,
    stop: server.stop,
    /** How often each code was answered. */
    async answered(): Promise<Readonly<Record<string, number>>> {
      const lines = (await text()).matchAll(/^hookline_collector_answers_total\{code="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]))
    },
  }
}

/** Long enough on a loopback for everything that is sent here. */
export const briefly: HttpLimits['linger'] = { time: durationMs(300), bytes: 4_194_304 }

/** One server for all cases of a theme; after each it must still serve, and hold no memory. */
export function rawCases(
  cases: readonly RawCase[],
  { writeKeys = ['KEY'], limits = {}, ...options }: Options & { readonly writeKeys?: readonly string[] } = {},
): void {
  const api = new ScriptedTrackingApi(writeKeys)
  let collector: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    collector = await startCollector(api, { ...options, limits: { linger: briefly, ...limits } })
  })
  afterAll(() => collector.stop())
  afterEach(() => api.forget())

  it.each(cases)('$name', async row => {
    const wire = await connect(collector.url)
    await play(row, wire, api)
    expect(wire.unread).toBe('')
    expect(wire.interim).toEqual(row.interim ?? [])
    if (row.closed === true || row.answers.at(-1)?.close === true) await wire.closed
    wire.reset()
    if (row.reached !== undefined) expect(api.requests).toEqual(row.reached.map(each => expect.objectContaining(each)))
    await expectHealthy(collector.url, api)
  })
}

/** Writes what a row says, and holds the answers to it and to the document. */
export async function play({ send, answers, end }: RawCase, wire: Wire, api: ScriptedTrackingApi): Promise<void> {
  const writing = (async () => {
    for (const each of send) {
      if (typeof each === 'function') await each(wire, api)
      else await wire.send(each)
    }
    if (end === true) wire.end()
  })()
  const lines = requestLines(send)
  for (const [index, expected] of answers.entries()) {
    const answer = await wire.answer(expected.method)
    expectAnswer(answer, expected)
    expectAsDocumented(lines[index] ?? lines.at(-1) ?? '', answer)
  }
  await writing
}

/** All of them, also where several stand in one write. */
function requestLines(send: readonly Sent[]): readonly string[] {
  const bytes = send.map(each => (typeof each === 'function' ? '' : each.toString('latin1'))).join('')
  return bytes.match(/[A-Z]{3,} \S+ HTTP\/1\.[01](?=\r\n)/g) ?? []
}

export function expectAnswer(answer: WireAnswer, expected: ExpectedAnswer): void {
  const { status, code, body, headers, close = false, method } = expected
  const { date, 'content-length': length, 'x-request-id': requestId, ...others } = answer.headers
  // Of the operator API only, for the audit log.
  if (requestId !== undefined) expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect([answer.status, codeOf(answer)]).toEqual([status, method === 'HEAD' ? undefined : code])
  if (method !== 'HEAD') expect(length ?? '0').toBe(String(Buffer.byteLength(answer.body)))
  if (code !== undefined) expectProblem(answer, code)
  else if (body !== undefined) expect(answer.body).toBe(body)
  expect(others).toEqual({
    ...(status !== 204 && { 'content-type': 'application/json; charset=utf-8' }),
    ...(close ? { connection: 'close' } : { connection: 'keep-alive', 'keep-alive': 'timeout=75' }),
    ...((status === 429 || status === 503) && { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) }),
    ...headers,
  })
}

const codeOf = ({ body }: WireAnswer): unknown => (body === '' ? undefined : JSON.parse(body).code)

/** Exactly these members, in this order, without white space. */
function expectProblem({ body }: WireAnswer, code: string): void {
  if (body === '') return
  const { message, rejected } = JSON.parse(body)
  expect(message).toMatch(/^[A-Z'\d].{10,}\.$/)
  expect(body).toBe(JSON.stringify({ success: false, code, message, error: message, ...(rejected && { rejected }) }))
}

/** Expects that a new connection is served and that no memory stays reserved. */
export async function expectHealthy(url: string, api: ScriptedTrackingApi): Promise<void> {
  api.forget()
  const wire = await connect(url)
  await wire.send(post('/v1/batch', { Connection: 'close' }))
  expectAnswer(await wire.answer(), takenAndClosed)
  await wire.closed
  wire.reset()
  await api.until(() => api.reserved === 0)
  api.forget()
}
