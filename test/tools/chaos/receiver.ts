import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer, Ledger } from './message-ledger.ts'

/**
 * Decides the response to the n-th request (from 1) of a message. `mark` is the result of the
 * endpoint's `Inspection`.
 */
export type Script = (id: string, call: number, mark: string | undefined) => Answer

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly path: string
  readonly body: string
}

/** Returns facts about a request, for example which secret signed it. */
export type Inspection = (request: Received) => string | undefined

export interface Receiver {
  /** URL of an endpoint. A webhook can add a path to it. */
  url(destination: string): string
  /** Uses this script from now on. Requests that already hang keep hanging. */
  follow(destination: string, script: Script): void
  slow(destination: string, latencyMs: number): void
  /** The ledger and the script of the endpoint get the result of `inspection` for each request. */
  inspect(destination: string, inspection: Inspection): void
  /**
   * Treats the webhooks of a destination as one endpoint: for each message, records only the
   * requests to the webhook that was called first.
   */
  merge(destination: string): void
  close(): Promise<void>
}

/** Header with the name of the process that sends the request. */
export const processHeader = 'x-process'
const standardLatencyMs = 10
/** Time between two bytes of a slow response, in ms. The 38 bytes of the head take 19 s. */
const trickleMs = 500
const trickle = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const halfBody = 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"half":'

/** Starts one server with a path per destination. It responds 200 until a script changes that. */
export async function startReceiver(ledger: Ledger, host = '127.0.0.1'): Promise<Receiver> {
  const scripts = new Map<string, Script>()
  const latencies = new Map<string, number>()
  const inspections = new Map<string, Inspection>()
  const merged = new Set<string>()
  const calls = new Map<string, number>()
  const counted = (key: string): number => {
    const count = (calls.get(key) ?? 0) + 1
    calls.set(key, count)
    return count
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.once('end', () => {
      const [destination = '', ...path] = request.url?.slice(1).split('/') ?? []
      const { headers } = request
      const id = String(headers['x-message-id'])
      const count = counted(`${destination} ${id}`)
      const isOtherWebhook = merged.has(destination) && counted(`${request.url} ${id}`) === 1 && count > 1
      const mark = inspections.get(destination)?.({
        ...{ headers, path: path.join('/'), body: Buffer.concat(pieces).toString() },
      })
      const answer = scripts.get(destination)?.(id, count, mark) ?? 200
      if (!isOtherWebhook) {
        const call = ledger.note({
          ...{ id, destination, answer, process: String(headers[processHeader]), at: performance.now() },
          mark,
        })
        response.once('close', () => {
          call.endedAt = performance.now()
        })
      }
      respond(answer, request, response, latencies.get(destination) ?? standardLatencyMs)
    })
  })
  server.keepAliveTimeout = 120_000
  await once(server.listen(0, host), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: destination => `http://${host}:${port}/${destination}`,
    follow: (destination, script) => void scripts.set(destination, script),
    slow: (destination, latencyMs) => void latencies.set(destination, latencyMs),
    inspect: (destination, inspection) => void inspections.set(destination, inspection),
    merge: destination => void merged.add(destination),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function respond(answer: Answer, { socket }: IncomingMessage, response: ServerResponse, latencyMs: number): void {
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
      sendByteByByte(socket, trickle)
      return
    default:
      setTimeout(() => response.writeHead(answer).end(), latencyMs)
  }
}

function sendByteByByte(socket: IncomingMessage['socket'], text: string): void {
  let next = 0
  const timer = setInterval(() => {
    if (next < text.length) socket.write(text.charAt(next++))
    else clearInterval(timer)
  }, trickleMs)
  socket.once('close', () => clearInterval(timer))
}
