import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface LoadOrder {
  readonly url: string
  readonly writeKey: string
  /** Messages in a request. */
  readonly batchSize: number
  readonly connections: number
}

export interface LoadTally {
  /** In requests that were answered 200. */
  readonly messages: number
  /** Requests that were answered otherwise. */
  readonly refused: number
  /** Requests that got no answer. */
  readonly broken: number
}

export interface Load {
  tally(): Promise<LoadTally>
  stop(): Promise<void>
}

/** A process that sends as much as is taken, from now on. */
export function startLoad(order: LoadOrder): Load {
  const child = fork(new URL('load-process.ts', import.meta.url), { execArgv: [] })
  child.send(order)
  return {
    async tally() {
      const answer = once(child, 'message')
      child.send('tell')
      const [tally] = (await answer) as [LoadTally]
      return tally
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
