import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { systemClock } from '../../src/adapters/clock.ts'
import type { ProblemCode } from '../../src/adapters/http/answers.ts'
import type { HttpLimits } from '../../src/adapters/http/limits.ts'
import { createTrackingServer, type TrackingServer } from '../../src/adapters/http/tracking-api.ts'
import { createMetrics } from '../../src/adapters/metrics.ts'
import type { TrackingApi, TrackingRequest } from '../../src/core/tracking-api.ts'
import { expectAsDocumented } from './openapi.ts'
import { quiet } from './quiet-logger.ts'
import { ScriptedTrackingApi } from './scripted-tracking-api.ts'
import { connect, type Wire, type WireAnswer } from './wire.ts'

/** What an answer has to be, to the last byte. */
export interface ExpectedAnswer {
  readonly status: number
  /** A refusal: its body is made of this and some text. */
  readonly code?: ProblemCode
  /** The exact body. */
  readonly body?: string
  /** Beyond those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
  /** `connection: close`, and the server closes. */
  readonly close?: boolean
  /** To a request with this method: HEAD has no body. */
  readonly method?: string
}

/** One row: what is written to a new connection, and what comes back. */
export interface RawCase {
  readonly name: string
  /** Written one after the other. A function is awaited: something that has to happen between two writes. */
  readonly send: Sent | readonly Sent[]
  /** In order. */
  readonly answers: readonly ExpectedAnswer[]
  /** What reached the API, as far as given; absent: whatever did. */
  readonly reached?: readonly Partial<TrackingRequest>[]
  /** Our side is closed after the last write. */
  readonly end?: boolean
  /** The server closes the connection without being asked to, answer or none. */
  readonly closed?: boolean
  /** Interim statuses that come before. */
  readonly interim?: readonly number[]
}

type Sent = string | Buffer | ((wire: Wire) => unknown)

export const taken: ExpectedAnswer = { status: 200, body: '{"success":true}' }
export const takenAndClosed: ExpectedAnswer = { ...taken, close: true }
export const problem = (status: number, code: ProblemCode, more: Partial<ExpectedAnswer> = {}): ExpectedAnswer => ({
  status,
  code,
  ...more,
})

const defaultHeaders: Readonly<Record<string, string>> = { Host: 'collector' }

/** The text of a request; Content-Length is added when there is a body and nothing else says where it ends. */
export function request(
  line: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body: string | Buffer = '',
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const framed = Object.keys(headers).some(name => /^(content-length|transfer-encoding)$/i.test(name))
  const length = bytes.length > 0 && !framed ? { 'Content-Length': String(bytes.length) } : {}
  const fields = Object.entries({ ...defaultHeaders, ...length, ...headers }).flatMap(([name, values]) =>
    [values].flat().map(value => `${name}: ${value}\r\n`),
  )
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`, 'latin1'), bytes])
}

export const post = (
  path: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body: string | Buffer = '{}',
) => request(`POST ${path}`, headers, body)

export const basic = (user: string, password = ''): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** A body in chunks. */
export const chunked = (...pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([...pieces.map(piece => chunk(piece)), Buffer.from('0\r\n\r\n')])

export function chunk(piece: string | Buffer): Buffer {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export interface CollectorUnderTest<Api extends TrackingApi> {
  readonly api: Api
  readonly url: string
  /** How often each code was answered. */
  answered(): Promise<Readonly<Record<string, number>>>
  stop(): Promise<void>
}

export async function startCollector<Api extends TrackingApi>(
  api: Api,
  options: { readonly maxBodyBytes?: number; readonly limits?: Partial<HttpLimits> } = {},
): Promise<CollectorUnderTest<Api> & { readonly server: TrackingServer }> {
  const { metrics, text } = createMetrics()
  const server = createTrackingServer({
    listen: { host: '127.0.0.1', port: 0 },
    api,
    maxBodyBytes: options.maxBodyBytes ?? 65_536,
    clock: systemClock,
    logger: quiet,
    metrics,
    ...(options.limits !== undefined && { limits: options.limits }),
  })
  const url = await server.start()
  return {
    api,
    url,
    server,
    async answered() {
      const lines = (await text()).matchAll(/^hookline_collector_answers_total\{code="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]))
    },
    stop: server.stop,
  }
}

/** One server for all cases of a theme; after each it must still serve, and hold no memory. */
export function rawCases(
  cases: readonly RawCase[],
  options: {
    readonly maxBodyBytes?: number
    readonly limits?: Partial<HttpLimits>
    readonly writeKeys?: readonly string[]
  } = {},
): void {
  const api = new ScriptedTrackingApi()
  if (options.writeKeys !== undefined) api.writeKeys = options.writeKeys
  let collector: CollectorUnderTest<ScriptedTrackingApi>
  beforeAll(async () => {
    collector = await startCollector(api, options)
  })
  afterAll(() => collector.stop())
  afterEach(() => api.forget())

  it.each(cases)('$name', async raw => {
    const wire = await connect(collector.url)
    await play(raw, wire)
    expect(wire.unread).toBe('')
    expect(wire.interim).toEqual(raw.interim ?? [])
    if (raw.closed === true || raw.answers.at(-1)?.close === true) await wire.closed
    wire.reset()
    if (raw.reached !== undefined) expect(api.requests).toEqual(raw.reached.map(each => expect.objectContaining(each)))
    await stillServes(collector)
  })
}

async function play({ send, answers, end }: RawCase, wire: Wire): Promise<void> {
  const lines = ([send].flat() as readonly Sent[])
    .map(sent => String(sent).split('\r\n', 1)[0] ?? '')
    .filter(isRequestLine)
  const writing = (async () => {
    for (const each of [send].flat() as readonly Sent[]) {
      if (typeof each === 'function') await each(wire)
      else await wire.send(each)
    }
    if (end === true) wire.end()
  })()
  for (const [index, expected] of answers.entries()) {
    const answer = await wire.answer(expected.method)
    expectAnswer(answer, expected)
    expectAsDocumented(lines[index] ?? lines.at(-1) ?? '', answer)
  }
  await writing
}

export function expectAnswer(answer: WireAnswer, expected: ExpectedAnswer): void {
  const { status, code, body, headers, close = false, method } = expected
  const { date, 'content-length': length, ...others } = answer.headers
  expect([answer.status, codeOf(answer)]).toEqual([status, method === 'HEAD' ? undefined : code])
  if (method !== 'HEAD') expect(length ?? '0').toBe(String(Buffer.byteLength(answer.body)))
  if (code !== undefined) expectProblem(answer, code)
  else if (body !== undefined) expect(answer.body).toBe(body)
  expect(others).toEqual({
    ...(status !== 204 && { 'content-type': 'application/json; charset=utf-8' }),
    ...(close ? { connection: 'close' } : { connection: 'keep-alive', 'keep-alive': 'timeout=75' }),
    ...headers,
  })
}

const isRequestLine = (line: string): boolean => /^[A-Z]+ \S+ HTTP\/1\.[01]$/.test(line)

const codeOf = ({ body }: WireAnswer): unknown => (body === '' ? undefined : JSON.parse(body).code)

/** Exactly these members, in this order, without white space. */
function expectProblem({ body }: WireAnswer, code: string): void {
  if (body === '') return
  const { message, rejected } = JSON.parse(body)
  expect(message).toMatch(/^[A-Z'].{10,}\.$/)
  expect(body).toBe(JSON.stringify({ success: false, code, message, error: message, ...(rejected && { rejected }) }))
}

export async function stillServes({
  api,
  url,
}: {
  readonly api: ScriptedTrackingApi
  readonly url: string
}): Promise<void> {
  api.forget()
  const healthy = await connect(url)
  await healthy.send(post('/v1/batch', { Connection: 'close' }))
  expectAnswer(await healthy.answer(), takenAndClosed)
  await healthy.closed
  healthy.reset()
  await api.until(() => api.reserved === 0)
}
