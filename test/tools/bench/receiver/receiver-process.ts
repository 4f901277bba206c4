import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { cpuSeconds } from '../process-usage.ts'
import { numberIn } from '../sample-events.ts'
import { EventTally, type Script } from './event-tally.ts'
import { failingPath, type Order, type SampleRequest, type Word } from './receiver-protocol.ts'

/*
 * The endpoint of all measured deliveries. It shares a core with the broker, so each request must
 * cost little CPU.
 */

const progressEveryMs = 100
/**
 * Maximum connections that wait to be accepted: a forwarder opens all of its connections at the
 * same time.
 */
const backlog = 8_192
const success: readonly string[] = ['Content-Length', '0']
const lastSuccess: readonly string[] = [...success, 'Connection', 'close']
/** The certificate and its key as JSON, for a receiver over HTTPS. */
const [, , identity] = process.argv

const idle: Script = { first: 0, count: 0, delayMs: 0, passesOneIn: 0, isDead: false, marks: [], keepsLog: false }
let script = idle
let counts = new EventTally(script)
let watched: readonly number[] = []
/** Requests that wait for the order `watch`. */
const early: (() => void)[] = []
let sample: SampleRequest | undefined
let told = 0
let opened = 0
let resumed = 0
const openedAt = new WeakMap<Socket, number>()

const tell = (word: Word): void => void process.send?.(word)
const now = (): number => performance.timeOrigin + performance.now()

function take(request: IncomingMessage, response: ServerResponse): void {
  let body: Buffer | undefined
  request.on('data', (chunk: Buffer) => {
    body = body === undefined ? chunk : Buffer.concat([body, chunk])
  })
  if (script.isDead && request.url?.startsWith(failingPath)) return
  const respond = (): void => {
    sample ??= { headers: request.headers, body: body?.toString('latin1') ?? '' }
    const number = body && numberIn(body)
    const succeeds = counts.arrived(number)
    if (script.delayMs === 0) answer(response, number, succeeds, request.url)
    else setTimeout(answer, script.delayMs, response, number, succeeds, request.url)
  }
  request.on('end', () => {
    if (script.waitsForWatch && watched.length === 0) early.push(respond)
    else respond()
  })
}

function answer(response: ServerResponse, number: number | undefined, succeeds: boolean, path?: string): void {
  // A client that has closed the connection does not get this response.
  if (response.destroyed) return
  response.sendDate = false
  const at = now()
  response.writeHead(succeeds ? 200 : 503, (isLast(response, at) ? lastSuccess : success) as string[]).end()
  if (!succeeds) return
  const mark = counts.succeeded(number, at, path)
  if (mark !== undefined)
    tell({ kind: 'mark', delivered: mark, at, connections: { opened, resumed }, cpu: cpuOfWatched() })
}

function cpuOfWatched(): readonly number[] {
  try {
    return watched.map(cpuSeconds)
  } catch {
    // The process has just exited. The bench reports this.
    return []
  }
}

/** Whether the connection is so old that this response closes it. */
function isLast({ req: { socket } }: ServerResponse, at: number): boolean {
  const { connectionLifeMs } = script
  return connectionLifeMs !== undefined && at - (openedAt.get(socket) ?? at) >= connectionLifeMs
}

function noteConnection(socket: Socket): void {
  opened++
  openedAt.set(socket, now())
  if (identity !== undefined && (socket as TLSSocket).isSessionReused()) resumed++
}

process.on('message', (order: Order) => {
  switch (order.kind) {
    case 'begin':
      script = order.script
      counts = new EventTally(script)
      watched = []
      early.length = 0
      sample = undefined
      told = 0
      return tell({ kind: 'begun' })
    case 'watch':
      watched = order.pids
      for (const respond of early.splice(0)) respond()
      return
    case 'tell':
      return tell({ kind: 'tally', tally: counts.tally(), sample })
  }
})

setInterval(() => {
  if (counts.delivered === told) return
  told = counts.delivered
  tell({ kind: 'progress', delivered: told })
}, progressEveryMs)

// The forwarder decides when to close connections, also idle or slow ones.
const options = {
  ...{ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 600_000, connectionsCheckingInterval: 600_000 },
}
const server =
  identity === undefined
    ? http.createServer(options, take).on('connection', noteConnection)
    : https.createServer({ ...options, ...JSON.parse(identity) }, take).on('secureConnection', noteConnection)
server.listen({ host: '127.0.0.1', port: 0, backlog }, () => {
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port })
})
// When the parent process ends for any reason.
process.on('disconnect', () => process.exit(0))
