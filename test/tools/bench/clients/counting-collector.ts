import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A separate process that accepts and counts all messages, as a collector does. */
export interface Endpoint {
  readonly url: string
  /** Number of messages since the last call of this function. */
  messages(): Promise<number>
  stop(): Promise<void>
}

export async function startEndpoint(): Promise<Endpoint> {
  const child = fork(new URL('counting-collector-process.ts', import.meta.url), { execArgv: [] })
  const [port] = (await once(child, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    async messages() {
      const answer = once(child, 'message')
      child.send('count')
      const [count] = (await answer) as [number]
      return count
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
