import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface LoadOrder {
  readonly url: string
  readonly writeKey: string
  /** Messages per request. */
  readonly batchSize: number
  readonly connections: number
}

export interface LoadTally {
  /** Number of messages in requests that got a 200. */
  readonly messages: number
  /** Number of requests with another response. */
  readonly refused: number
  /** Number of requests without a response. */
  readonly broken: number
}

export interface Load {
  tally(): Promise<LoadTally>
  /** Ids of all messages in requests that got a 200. */
  accepted(): Promise<readonly string[]>
  stop(): Promise<void>
}

export const idPrefix = 'load-'
const idDigits = 12
/** Returns the unique id of a message. All ids have the same length. */
export const messageIdOf = (number: number): string => idPrefix + String(number).padStart(idDigits, '0')
/** Finds a message id in a stored record, which is Avro or JSON. */
export const messageIdPattern = new RegExp(`${idPrefix}\\d{${idDigits}}`)

/** Starts a process that sends requests at full speed. */
export function startLoad(order: LoadOrder): Load {
  const child = fork(new URL('load-process.ts', import.meta.url), { execArgv: [] })
  child.send(order)
  async function ask<Answer>(question: 'tally' | 'accepted'): Promise<Answer> {
    const answer = once(child, 'message')
    child.send(question)
    const [told] = (await answer) as [Answer]
    return told
  }
  return {
    tally: () => ask<LoadTally>('tally'),
    async accepted() {
      const requests = await ask<readonly number[]>('accepted')
      return requests.flatMap(number =>
        Array.from({ length: order.batchSize }, (_, index) => messageIdOf(number * order.batchSize + index)),
      )
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
