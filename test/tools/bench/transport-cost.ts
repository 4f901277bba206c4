/**
 * Measures the CPU time of one request with each transport, and with its HTTP client alone.
 *
 *   node test/tools/bench/transport-cost.ts \
 *     [concurrent requests] [thousands of requests] [response delay in ms]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http, { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import got from 'got'
import { Pool } from 'undici'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import type { TransportDeps } from '../../../src/adapters/webhook/transport-for-any-http-client.ts'
import { createUndiciTransport } from '../../../src/adapters/webhook/undici.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { WebhookTransport } from '../../../src/core/webhook-ports.ts'

const text = JSON.stringify({ type: 'track', event: 'Order Completed', properties: { pad: 'a'.repeat(850) } })
const body = Buffer.from(text)
const headers = {
  'Content-Type': 'application/json',
  'User-Agent': 'Hookline/1.0',
  'X-Message-Id': 'dc4e1d5e-8f7a-4ac5-9c52-1e62bd0b33a2',
  'X-Signature': '71f2a5c6b9c1d1c2e7ad8c4a6c2a6d5b3e0b6d61',
}

type Post = (onEnd: () => void) => void
interface Order {
  readonly variant: string
  readonly url: string
  readonly inFlight: number
  readonly calls: number
}

const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
const deps: TransportDeps = { network: () => network, timeout: durationMs(5_000), clock }
const over =
  (create: (deps: TransportDeps) => WebhookTransport) =>
  ({ url }: Order): Post => {
    const transport = create(deps)
    return onEnd => transport.post({ url, headers, body }, onEnd)
  }

const variants: Readonly<Record<string, (order: Order) => Post>> = {
  'got transport': over(createGotTransport),
  'undici transport': over(createUndiciTransport),
  'got, bare': ({ url, inFlight }) => {
    const agent = { http: new http.Agent({ keepAlive: true, maxFreeSockets: inFlight }) }
    const client = got.extend({
      agent,
      headers,
      retry: { limit: 0 },
      throwHttpErrors: false,
      timeout: { request: 5_000 },
    })
    return onEnd => void client.post(url, { body: text }).then(onEnd)
  },
  'undici request, bare': ({ url }) => {
    const { origin, pathname: path } = new URL(url)
    const pool = new Pool(origin)
    return onEnd =>
      void pool
        .request({ path, method: 'POST', headers, body })
        .then(response => response.body.dump())
        .then(onEnd)
  },
  'undici dispatch, bare': ({ url }) => {
    const { origin, pathname: path } = new URL(url)
    const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
    return onEnd => {
      pool.dispatch(
        { path, method: 'POST', headers, body },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: onEnd,
          onResponseError: (_controller, error) => {
            throw error
          },
        },
      )
    }
  },
}

/** Resolves with the CPU time per request, in µs. */
async function measure(post: Post, inFlight: number, calls: number): Promise<number> {
  const before = process.cpuUsage()
  const done = Promise.withResolvers<void>()
  let begun = 0
  let ended = 0
  const next = (): void => {
    if (begun === calls) return
    begun++
    post(() => {
      ended++
      if (ended === calls) done.resolve()
      else next()
    })
  }
  for (let place = 0; place < inFlight; place++) next()
  await done.promise
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

async function call(order: Order): Promise<void> {
  const make = variants[order.variant]
  if (make === undefined) throw new RangeError(`unknown variant ${order.variant}`)
  const post = make(order)
  await measure(post, order.inFlight, Math.max(order.inFlight * 4, order.calls / 4))
  const microseconds = await measure(post, order.inFlight, order.calls)
  process.send?.({ microseconds, peakMb: process.resourceUsage().maxRSS / 1_000 })
  process.disconnect?.()
}

function receive(delayMs: number): void {
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    response.sendDate = false
    const answer = () => response.writeHead(200, ['Content-Length', '0']).end()
    request.resume().on('end', () => (delayMs === 0 ? answer() : setTimeout(answer, delayMs)))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  )
  process.once('disconnect', () => process.exit())
}

const start = (role: string, order: object): ChildProcess => fork(import.meta.filename, [role, JSON.stringify(order)])

interface Figures {
  readonly microseconds: number
  readonly peakMb: number
}

async function compare(inFlight: number, calls: number, delayMs: number): Promise<void> {
  const receiver = start('receive', { delayMs })
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const runs = new Map<string, Figures[]>(Object.keys(variants).map(variant => [variant, []]))
  for (let round = 0; round < 3; round++) {
    for (const [variant, figures] of runs) {
      const caller = start('call', { variant, url: `http://127.0.0.1:${port}/hook`, inFlight, calls })
      const exit = once(caller, 'exit')
      const [measured] = (await once(caller, 'message')) as [Figures]
      figures.push(measured)
      caller.kill()
      await exit
    }
  }
  receiver.disconnect()
  console.log(
    `${calls} requests of ${Buffer.byteLength(body)} bytes, ${inFlight} concurrent, responses after ${delayMs} ms`,
  )
  console.table(
    Object.fromEntries(
      [...runs].map(([variant, figures]) => {
        const sorted = figures.toSorted((a, b) => a.microseconds - b.microseconds)
        const { microseconds = 0, peakMb = 0 } = sorted[1] ?? {}
        return [
          variant,
          {
            'µs CPU a call': Number(microseconds.toFixed(1)),
            lowest: Number((sorted[0]?.microseconds ?? 0).toFixed(1)),
            highest: Number((sorted[2]?.microseconds ?? 0).toFixed(1)),
            'calls a CPU second': Math.round(1e6 / microseconds),
            'peak MB': Math.round(peakMb),
          },
        ]
      }),
    ),
  )
}

const [role = '', order = '{}'] = process.argv.slice(2)
if (role === 'receive') receive((JSON.parse(order) as { delayMs: number }).delayMs)
else if (role === 'call') await call(JSON.parse(order) as Order)
else {
  const [inFlight = 256, thousands = 40, delayMs = 0] = process.argv.slice(2).map(Number)
  await compare(inFlight, thousands * 1_000, delayMs)
}
