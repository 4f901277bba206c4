import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { finished } from 'node:stream/promises'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { paced } from '../../../src/services/pacer.ts'
import { type Load, messageIdOf, userIdOf } from '../chaos/event-load.ts'
import type { Posted, Sent } from '../chaos/message-ledger.ts'
import type { Installation } from './installation.ts'

/** Time limit for a request, in ms. */
const giveUpMs = 30_000
let next = 0

/** The collector to which messages are sent, and the `Ledger` that records them. */
export interface Target extends Pick<Installation, 'ledger' | 'partitions' | 'collectorUrl' | 'writeKey'> {
  /** Default: an agent without TLS that reuses connections. */
  readonly agent?: Agent
}

/**
 * Posts messages at an even rate. Repeats a request only if its reused connection closed before any
 * response.
 */
export async function startMessageLoad(target: Target, perSecond: number): Promise<Load> {
  const { ledger, partitions, agent = new Agent({ keepAlive: true }) } = target
  const url = `${await target.collectorUrl()}/v1/track`
  const headers = { authorization: basic(await target.writeKey()) }
  const end = new AbortController()
  const underWay = new Set<Promise<void>>()

  async function send(number: number): Promise<void> {
    const userId = userIdOf(number)
    const at = performance.now()
    const partition = partitionFor(Buffer.from(userId), partitions)
    const sent: Sent = { id: messageIdOf(number), partition, at, acknowledgedAt: undefined }
    ledger.sent.set(sent.id, sent)
    const body = JSON.stringify({ messageId: sent.id, userId, event: 'Order Completed' })
    const response = await post(url, { agent, headers, body, ids: [sent.id] })
    const endedAt = performance.now()
    if (response.answer === 200) sent.acknowledgedAt = endedAt
    ledger.posted.push({ collector: undefined, messages: 1, at, endedAt, ...response })
  }

  const over = (async () => {
    for await (const _ of paced({ count: Number.POSITIVE_INFINITY, perSecond }, clock, end.signal)) {
      const sending = send(next++)
      underWay.add(sending)
      void sending.finally(() => underWay.delete(sending))
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

/**
 * Whether the server has probably closed the idle connection before it got the request. HTTP/1.1
 * cannot avoid this, so clients repeat the request.
 */
const wasClosedBefore = ({ reusedSocket }: ClientRequest, { code = '' }: NodeJS.ErrnoException): boolean =>
  reusedSocket && ['ECONNRESET', 'EPIPE'].includes(code)

export const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString('base64')}`

interface Post {
  readonly agent: Agent
  readonly headers: OutgoingHttpHeaders
  readonly body: string
  readonly ids: readonly string[]
}

/**
 * Resolves with the status, or with `broken` without a response in time. Repeats the request if its
 * idle connection closed.
 */
export async function post(url: string, options: Post): Promise<Pick<Posted, 'answer' | 'retryAfter' | 'sentAgain'>> {
  const { agent, headers, body, ids } = options
  const asking = request(url, { method: 'POST', agent, headers, signal: AbortSignal.timeout(giveUpMs) })
  let response: IncomingMessage | undefined
  try {
    ;[response] = (await once(asking.end(body), 'response')) as [IncomingMessage]
    await finished(response.resume())
    return { answer: response.statusCode as number, retryAfter: response.headers['retry-after'] }
  } catch (error) {
    if (response === undefined && wasClosedBefore(asking, error as NodeJS.ErrnoException))
      return { ...(await post(url, options)), sentAgain: ids }
    return { answer: 'broken', retryAfter: undefined }
  }
}
