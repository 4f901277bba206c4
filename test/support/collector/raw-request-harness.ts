import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createCollectorServer } from '../../../src/adapters/http/collector-server.ts'
import { createOperatorAuthentication } from '../../../src/adapters/http/operator-authentication.ts'
import type { ProblemCode } from '../../../src/adapters/http/response-codes-and-bodies.ts'
import type { HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { createMetrics } from '../../../src/adapters/metrics/metrics.ts'
import type { TrackingApi, TrackingRequest } from '../../../src/core/collector/tracking-api.ts'
import type { DeletionAndAudienceApi } from '../../../src/core/operator/deletion-and-audience-api.ts'
import type { Clock, Logger } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import { post } from '../network/http-request-bytes.ts'
import { connect, type Wire, type WireAnswer } from '../network/raw-http-client.ts'
import { findOperatorKey } from '../operator/scripted-deletion-and-audience-api.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { expectAsDocumented } from './openapi-conformance.ts'
import { ScriptedTrackingApi } from './scripted-tracking-api.ts'

/** The expected response. Besides `headers`, it has only the headers that every response has. */
export interface ExpectedAnswer {
  readonly status: number
  readonly code?: ProblemCode
  /** The exact body. If undefined, only the form of a problem document is checked. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the response has `connection: close` and the server closes the connection. */
  readonly close?: boolean
  /** The method of the request. A response to HEAD has no body. */
  readonly method?: string
}

export const taken: ExpectedAnswer = { status: 200, body: '{"success":true}' }
export const takenAndClosed: ExpectedAnswer = { ...taken, close: true }
export const problem = (status: number, code: ProblemCode, more: Partial<ExpectedAnswer> = {}): ExpectedAnswer => ({
  status,
  code,
  ...more,
})

/** Bytes to write, or an action that is awaited before the next write. */
type Sent = string | Buffer | ((wire: Wire, api: ScriptedTrackingApi) => unknown)

export interface RawCase {
  readonly name: string
  readonly send: readonly Sent[]
  readonly answers: readonly ExpectedAnswer[]
  /** Expected fields of the requests that reached the API. If undefined, they are not checked. */
  readonly reached?: readonly Partial<TrackingRequest>[]
  /** Whether the client closes its side after the last write. */
  readonly end?: boolean
  /** Whether the server closes the connection although no response has `connection: close`. */
  readonly closed?: boolean
  /** Interim statuses (1xx) before the final response. */
  readonly interim?: readonly number[]
}

export const raw = (
  name: string,
  send: Sent | readonly Sent[],
  answers: ExpectedAnswer | readonly ExpectedAnswer[],
  more: Pick<RawCase, 'reached' | 'end' | 'closed' | 'interim'> = {},
): RawCase => ({ name, send: [send].flat() as Sent[], answers: [answers].flat() as ExpectedAnswer[], ...more })

interface Options {
  /** The deprecated operator API. Undefined if it is off. */
  readonly operator?: DeletionAndAudienceApi
  readonly maxBodyBytes?: number
  /**
   * Limits that replace the defaults. By default, a stopping server waits only 1 ms
   * (`acceptAfterStop`) for further requests.
   */
  readonly limits?: Partial<HttpLimits>
  readonly logger?: Logger
  readonly port?: number
  readonly host?: string
  readonly tracer?: Tracer | undefined
  readonly clock?: Clock
  readonly clientAddressHeader?: string
}

/** Starts the HTTP server of the collector with this API, by default on a free port. */
export async function startCollector(
  api: TrackingApi,
  {
    operator,
    maxBodyBytes = 65_536,
    limits = {},
    logger = silent,
    clock = processClock,
    tracer,
    clientAddressHeader,
    ...listen
  }: Options = {},
) {
  const { metrics, text } = createMetrics()
  const gate = createOperatorAuthentication({ findKey: () => findOperatorKey, clock })
  const server = createCollectorServer({
    listen: { host: '127.0.0.1', port: 0, ...listen },
    api,
    operator: operator && { api: operator, gate, audit: () => {} },
    maxBodyBytes,
    limits: { acceptAfterStop: durationMs(1), ...limits },
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
    /** Number of responses by code: `ok` or an error code. */
    async answered(): Promise<Readonly<Record<string, number>>> {
      const lines = (await text()).matchAll(/^hookline_collector_answers_total\{code="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]))
    },
    /** Number of connections that were refused or closed because of a connection limit. */
    async connectionsClosed(): Promise<number> {
      const line = /^hookline_collector_bodies_refused_total\{cause="connections"\} (\d+)$/m.exec(await text())
      return Number(line?.[1] ?? 0)
    },
  }
}

/**
 * Limits for reading the rest of a body after an early response. All bodies of these tests are
 * within these limits.
 */
export const briefly: HttpLimits['linger'] = { time: durationMs(300), bytes: 4_194_304 }

/**
 * Runs the cases on one server. After each case, the server must respond, and have no memory
 * reserved for bodies.
 */
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

  it.each(cases)('$name', row => playAlone(row, collector.url, api))
}

/**
 * Runs the cases at the same time, each on its own server, so that a long time limit takes its time
 * only once. A short one could expire on a busy machine before the server has read the data.
 */
export function concurrentRawCases(cases: readonly RawCase[], limits: Partial<HttpLimits>): void {
  const played = new Map<RawCase, Promise<void>>()
  beforeAll(() => {
    for (const row of cases) {
      const ended = playOnOwnServer(row, limits)
      // The test awaits the promise, perhaps later.
      ended.catch(() => {})
      played.set(row, ended)
    }
  })

  it.each(cases)('$name', row => played.get(row))
}

async function playOnOwnServer(row: RawCase, limits: Partial<HttpLimits>): Promise<void> {
  const api = new ScriptedTrackingApi()
  const collector = await startCollector(api, { limits: { linger: briefly, ...limits } })
  try {
    await playAlone(row, collector.url, api)
  } finally {
    await collector.stop()
  }
}

/** Plays a case while nothing else uses the server, which must respond afterwards. */
async function playAlone(row: RawCase, url: string, api: ScriptedTrackingApi): Promise<void> {
  const wire = await connect(url)
  await play(row, wire, api)
  expect(wire.unread).toBe('')
  expect(wire.interim).toEqual(row.interim ?? [])
  if (row.closed === true || row.answers.at(-1)?.close === true) await wire.closed
  wire.reset()
  if (row.reached !== undefined) expect(api.requests).toEqual(row.reached.map(each => expect.objectContaining(each)))
  await expectHealthy(url, api)
}

/** Writes the bytes of a case. Checks the responses against the case and the OpenAPI document. */
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

function requestLines(send: readonly Sent[]): readonly string[] {
  const bytes = send.map(each => (typeof each === 'function' ? '' : each.toString('latin1'))).join('')
  return bytes.match(/[A-Z]{3,} \S+ HTTP\/1\.[01](?=\r\n)/g) ?? []
}

export function expectAnswer(answer: WireAnswer, expected: ExpectedAnswer): void {
  const { status, code, body, headers, close = false, method } = expected
  const { date, 'content-length': length, 'x-request-id': requestId, ...others } = answer.headers
  // Only responses of the operator API have a request id.
  if (requestId !== undefined) expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect([answer.status, codeOf(answer)]).toEqual([status, method === 'HEAD' ? undefined : code])
  if (method !== 'HEAD') expect(length ?? '0').toBe(String(Buffer.byteLength(answer.body)))
  if (code !== undefined) expectProblem(answer, code)
  else if (body !== undefined) expect(answer.body).toBe(body)
  expect(others).toEqual({
    ...(status !== 204 && { 'content-type': 'application/json; charset=utf-8' }),
    ...(close ? { connection: 'close' } : { connection: 'keep-alive', 'keep-alive': 'timeout=620' }),
    ...((status === 429 || status === 503) && { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) }),
    ...headers,
  })
}

const codeOf = ({ body }: WireAnswer): unknown => (body === '' ? undefined : JSON.parse(body).code)

/** Checks that the body has exactly the members of a problem document, in order. */
function expectProblem({ body }: WireAnswer, code: string): void {
  if (body === '') return
  const { message, rejected } = JSON.parse(body)
  expect(message).toMatch(/^[A-Z'\d].{10,}\.$/)
  expect(body).toBe(JSON.stringify({ success: false, code, message, error: message, ...(rejected && { rejected }) }))
}

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
