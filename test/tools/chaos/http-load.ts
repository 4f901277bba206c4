import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { finished } from 'node:stream/promises'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { paced } from '../../../src/services/pacer.ts'
import { type Load, messageIdOf, userIdOf } from './event-load.ts'
import type { Member } from './fleet.ts'
import type { Ledger, Posted, Sent } from './message-ledger.ts'

export interface HttpLoadOptions {
  /** Returns the running collectors. A running collector may already have closed its listener. */
  readonly collectors: () => readonly Member[]
  readonly writeKey: string
  readonly partitions: number
  readonly perSecond: number
  readonly fillerBytes: number
  readonly ledger: Ledger
}

/** Numbers of messages per request, in turn. */
const requestSizes = [1, 1, 10, 1, 1, 25, 1, 1, 1, 3] as const
/**
 * Time limit for a request, in ms. A request that reaches this limit counts as a request without a
 * response.
 */
const giveUpMs = 60_000

/**
 * Posts messages at an even rate to the collectors in turn. Repeats none, so that each message has
 * one result.
 */
export function startHttpLoad(options: HttpLoadOptions): Load {
  const { collectors, writeKey, partitions, perSecond, fillerBytes, ledger } = options
  const agent = new Agent({ keepAlive: true })
  const headers = { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
  const filler = 'x'.repeat(fillerBytes)
  const gone = new Set<Member>()
  const underWay = new Set<Promise<void>>()
  const end = new AbortController()
  let turn = 0

  const messageOf = (number: number) => ({
    type: 'track',
    messageId: messageIdOf(number),
    userId: userIdOf(number),
    event: 'Order Completed',
    properties: { filler },
  })

  /** Posts to the next collector that has not refused a connection. */
  async function postNext(numbers: readonly number[]): Promise<void> {
    const at = performance.now()
    const sent = numbers.map(number => noted(number, at))
    const messages = numbers.map(messageOf)
    const [path, body] = messages.length === 1 ? ['/v1/track', messages[0]] : ['/v1/batch', { batch: messages }]
    const text = JSON.stringify(body)
    for (;;) {
      const listening = collectors().filter(each => !gone.has(each))
      const collector = listening[turn++ % listening.length]
      for (const each of sent) each.through = collector?.name ?? 'none'
      const said = collector === undefined ? broken : await post(`${collector.service.collector}${path}`, text)
      if (said === 'nobody_listens') {
        gone.add(collector as Member)
        continue
      }
      const endedAt = performance.now()
      if (said.answer === 200) for (const each of sent) each.acknowledgedAt = endedAt
      ledger.posted.push({ collector: collector?.name, messages: sent.length, at, endedAt, ...said })
      return
    }
  }

  function noted(number: number, at: number): Sent {
    const partition = partitionFor(Buffer.from(userIdOf(number)), partitions)
    const sent: Sent = { id: messageIdOf(number), partition, at, acknowledgedAt: undefined }
    ledger.sent.set(sent.id, sent)
    return sent
  }

  async function post(url: string, body: string): Promise<Result | 'nobody_listens'> {
    const signal = AbortSignal.timeout(giveUpMs)
    const asking = request(url, { method: 'POST', agent, headers, signal })
    try {
      const [response] = (await once(asking.end(body), 'response')) as [IncomingMessage]
      await finished(response.resume())
      return { answer: response.statusCode as number, retryAfter: response.headers['retry-after'] }
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'nobody_listens' : broken
    }
  }

  const over = (async () => {
    let waiting: number[] = []
    let size = 0
    for await (const number of paced({ count: Number.POSITIVE_INFINITY, perSecond }, clock, end.signal)) {
      waiting.push(number)
      if (waiting.length < requestSizes[size % requestSizes.length]!) continue
      const posting = postNext(waiting)
      underWay.add(posting)
      void posting.finally(() => underWay.delete(posting))
      waiting = []
      size++
    }
  })()
  return {
    async stop() {
      end.abort()
      await over
      await Promise.all(underWay)
      agent.destroy()
    },
  }
}

type Result = Pick<Posted, 'answer' | 'retryAfter'>
const broken: Result = { answer: 'broken', retryAfter: undefined }
