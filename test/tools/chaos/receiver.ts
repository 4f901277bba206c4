import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer, Call, Ledger } from './ledger.ts'

/** What a destination's endpoint does with the n-th call (from 1) of a message, of which it has noted something. */
export type Script = (id: string, call: number, mark: string | undefined) => Answer

/** A request as it came in. */
export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What is to be noted of a request: who has signed it, which edition of the configuration it shows. */
export type Inspection = (request: Received) => string | undefined

export interface Receiver {
  url(destination: string): string
  /** From now on; calls that hang when the script changes go on hanging. */
  follow(destination: string, script: Script): void
  /** Answers come so late. */
  slow(destination: string, latencyMs: number): void
  /** From now on it is noted with each call, and its script is told. */
  inspect(destination: string, inspection: Inspection): void
  close(): Promise<void>
}

/** The header in which each process says who it is: its configuration has it from its environment. */
export const processHeader = 'x-process'
/** A customer's endpoint is seldom quicker. */
const standardLatencyMs = 10
/** Between two bytes of an answer that trickles: its head alone would take half a minute. */
const trickleMs = 500
const trickle = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
/** Promises more than comes. */
const halfBody = 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"half":'

/** The customers' endpoints: one server, a path for each destination, all answering 200 until told otherwise. */
export async function startReceiver(ledger: Ledger): Promise<Receiver> {
  const scripts = new Map<string, Script>()
  const latencies = new Map<string, number>()
  const inspections = new Map<string, Inspection>()
  const calls = new Map<string, number>()

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.once('end', () => {
      const destination = request.url?.slice(1) ?? ''
      const { headers } = request
      const id = String(headers['x-message-id'])
      const count = (calls.get(`${destination} ${id}`) ?? 0) + 1
      calls.set(`${destination} ${id}`, count)
      const mark = inspections.get(destination)?.({ headers, body: Buffer.concat(pieces).toString() })
      const answer = scripts.get(destination)?.(id, count, mark) ?? 200
      const call: Call = {
        ...{ id, destination, answer, process: String(headers[processHeader]), at: performance.now() },
        mark,
      }
      ledger.note(call)
      response.once('close', () => {
        call.endedAt = performance.now()
      })
      carryOut(answer, request, response, latencies.get(destination) ?? standardLatencyMs)
    })
  })
  server.keepAliveTimeout = 120_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: destination => `http://127.0.0.1:${port}/${destination}`,
    follow: (destination, script) => void scripts.set(destination, script),
    slow: (destination, latencyMs) => void latencies.set(destination, latencyMs),
    inspect: (destination, inspection) => void inspections.set(destination, inspection),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function carryOut(answer: Answer, { socket }: IncomingMessage, response: ServerResponse, latencyMs: number): void {
  if (typeof answer === 'object') {
    const { status, retryAfter, afterMs = latencyMs } = answer
    if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
    setTimeout(() => response.writeHead(status).end(), afterMs)
    return
  }
  switch (answer) {
    case 'hang':
      return
    case 'reset':
      socket.resetAndDestroy()
      return
    case 'half':
      socket.write(halfBody, () => socket.resetAndDestroy())
      return
    case 'trickle':
      dribble(socket, trickle)
      return
    default:
      setTimeout(() => response.writeHead(answer).end(), latencyMs)
  }
}

/** A byte now and then, until the other side has had enough. */
function dribble(socket: IncomingMessage['socket'], text: string): void {
  let next = 0
  const timer = setInterval(() => {
    if (next < text.length) socket.write(text.charAt(next++))
    else clearInterval(timer)
  }, trickleMs)
  socket.once('close', () => clearInterval(timer))
}
