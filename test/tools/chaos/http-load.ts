import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { finished } from 'node:stream/promises'
import { systemClock as clock } from '../../../src/adapters/clock/clock.ts'
import { partitionFor } from '../../../src/core/message/event.ts'
import { paced } from '../../../src/services/pacer.ts'
import type { Member } from './fleet.ts'
import type { Ledger, Posted, Sent } from './ledger.ts'
import { type Load, messageIdOf, userIdOf } from './load.ts'

export interface HttpLoadOptions {
  /** Where to send at present. That one does not listen any more is found out as any sender does. */
  readonly collectors: () => readonly Member[]
  readonly writeKey: string
  readonly partitions: number
  /** Messages. */
  readonly perSecond: number
  /** That many more bytes in each message. */
  readonly fillerBytes: number
  readonly ledger: Ledger
}

/** Messages a request: single ones and batches in turn. */
const requestSizes = [1, 1, 10, 1, 1, 25, 1, 1, 1, 3] as const
/** Far beyond the longest that a collector may take: such a request is never answered. */
const giveUpMs = 60_000

/**
 * Posts messages evenly until stopped, on connections that are kept, to the collectors in turn, as many requests at once as there happen to
 * be. A request that was not answered 200 is not sent again, so that what becomes of it is its own fate.
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

  /** To the next that listens; one that refuses the connection has not been told anything, and is not asked again. */
  async function hand(numbers: readonly number[]): Promise<void> {
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

  async function post(url: string, body: string): Promise<Said | 'nobody_listens'> {
    const signal = AbortSignal.timeout(giveUpMs)
    const asking = request(url, { method: 'POST', agent, headers, signal })
    try {
      const [response] = (await once(asking.end(body), 'response')) as [IncomingMessage]
      // An answer counts when it is there to its end.
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
      const handing = hand(waiting)
      underWay.add(handing)
      void handing.finally(() => underWay.delete(handing))
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

type Said = Pick<Posted, 'answer' | 'retryAfter'>
const broken: Said = { answer: 'broken', retryAfter: undefined }
