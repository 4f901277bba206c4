import { Agent, request } from 'node:http'
import { afterEach } from '@jest/globals'
import { createSink, type Sink, type SinkOptions, type SinkRequest } from '../../../src/adapters/http/sink-server.ts'

const sinks: Sink[] = []
const agents: Agent[] = []
afterEach(async () => {
  await Promise.all(sinks.splice(0).map(sink => sink.stop()))
  for (const agent of agents.splice(0)) agent.destroy()
})

export interface Answer {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  /** The error code, if no response arrived. */
  readonly error: string | undefined
}

export async function startSink(options: SinkOptions = {}) {
  const seen: SinkRequest[] = []
  const sink = createSink({ onRequest: request => void seen.push(request), ...options })
  sinks.push(sink)
  const url = await sink.start()
  const agent = new Agent({ keepAlive: true })
  agents.push(agent)
  const post = (body: string, headers: Record<string, string> = {}, path = '/hooks', method = 'POST') =>
    new Promise<Answer>(resolve => {
      const failed = (error: NodeJS.ErrnoException): void =>
        resolve({ status: undefined, headers: {}, error: error.code })
      request(`${url}${path}`, { method, agent, headers }, response => {
        response.resume()
        response.once('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, error: undefined }),
        )
      })
        .once('error', failed)
        .end(body)
    })
  return { sink, url, seen, post }
}
