import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface LoadOrder {
  readonly url: string
  readonly writeKey: string
  readonly batchSize: number
  readonly connections: number
}

export interface LoadTally {
  /** Messages in requests that got a 200. */
  readonly messages: number
  /** Requests with another response. */
  readonly refused: number
  /** Requests without a response. */
  readonly broken: number
}

export interface Load {
  tally(): Promise<LoadTally>
  accepted(): Promise<readonly string[]>
  stop(): Promise<void>
}

export const idPrefix = 'load-'
const idDigits = 12
export const messageIdOf = (number: number): string => idPrefix + String(number).padStart(idDigits, '0')
/** Finds a message id in a record, which is Avro or JSON. */
export const messageIdPattern = new RegExp(`${idPrefix}\\d{${idDigits}}`)

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
