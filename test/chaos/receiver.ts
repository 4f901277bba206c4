import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer, Ledger } from './ledger.ts'

/** What a destination's endpoint does with the n-th call (from 1) of a message. */
export type Script = (id: string, call: number) => Answer

export interface Receiver {
  url(destination: string): string
  /** From now on; calls that hang when the script changes go on hanging. */
  follow(destination: string, script: Script): void
  close(): Promise<void>
}

/** The header in which each process says who it is: its configuration has it from its environment. */
export const processHeader = 'x-process'
/** A customer's endpoint is seldom quicker. */
const latencyMs = 10

/** The customers' endpoints: one server, a path for each destination, all answering 200 until told otherwise. */
export async function startReceiver(ledger: Ledger): Promise<Receiver> {
  const scripts = new Map<string, Script>()
  const calls = new Map<string, number>()

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    request.once('end', () => {
      const destination = request.url?.slice(1) ?? ''
      const id = String(request.headers['x-message-id'])
      const call = (calls.get(`${destination} ${id}`) ?? 0) + 1
      calls.set(`${destination} ${id}`, call)
      const answer = scripts.get(destination)?.(id, call) ?? 200
      const from = String(request.headers[processHeader])
      ledger.note({ id, destination, process: from, at: performance.now(), answer })
      if (answer === 'reset') request.socket.resetAndDestroy()
      else if (answer !== 'hang') setTimeout(() => response.writeHead(answer).end(), latencyMs)
    })
  })
  server.keepAliveTimeout = 120_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: destination => `http://127.0.0.1:${port}/${destination}`,
    follow: (destination, script) => void scripts.set(destination, script),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
