import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { FailureCause } from './failure.ts'
import { type HttpResponse, resultOf } from './response-result.ts'
import type { Batch, SendResult, Transport } from './transport.ts'
import { library } from './version.ts'

export interface HttpTransportOptions {
  readonly url: string
  readonly writeKey: string
  /** Time limit for one request in milliseconds, from its start to the end of the response. */
  readonly timeoutMs: number
  readonly now: () => number
}

/**
 * Maximum bytes that are read of a response body. This is enough for the 2500 rejections of a full
 * batch.
 */
const maxResponseBytes = 1_048_576
/**
 * How long an idle connection stays open. Servers keep it for 5 s or longer, so the client closes
 * it before the server does.
 */
const idleMs = 4_000

/**
 * Sends batches by POST over kept-alive connections. It uses `node:http`, because `fetch` takes
 * three times as much CPU time per request.
 */
export function createHttpTransport({ url, writeKey, timeoutMs, now }: HttpTransportOptions): Transport {
  const target = new URL(url)
  const { request, Agent } = target.protocol === 'https:' ? https : http
  const agent = new Agent({ keepAlive: true, timeout: idleMs })
  const bodyOf = createEnvelope(writeKey)
  const headers = {
    authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
    'content-type': 'application/json',
    'user-agent': `${library.name}/${library.version}`,
  }

  /** Sends a request. Resolves with the response when its status line and headers have arrived. */
  function exchange(body: Buffer, retry: number, signal: AbortSignal): Promise<IncomingMessage> {
    const count = retry === 0 ? {} : { 'x-retry-count': String(retry) }
    return new Promise((resolve, reject) => {
      const outgoing = request(target, {
        method: 'POST',
        headers: { ...headers, 'content-length': body.length, ...count },
        agent,
        signal,
      })
      outgoing.once('response', resolve)
      outgoing.on('error', error => reject(signal.aborted ? signal.reason : error))
      // Without a usable response, as after 101 Switching Protocols, Node emits `close` but no
      // `error`.
      outgoing.once('close', () => reject(new Error('the connection was closed without a response')))
      outgoing.end(body)
    })
  }

  async function post(batch: Batch, retry: number, signal: AbortSignal): Promise<SendResult> {
    const response = await exchange(Buffer.from(bodyOf(batch, now())), retry, signal)
    const answer: HttpResponse = {
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'] ?? null,
      body: await startOf(response),
    }
    return resultOf(answer, batch.messages, now())
  }

  return {
    // The size of a body without messages. It is the same for every batch id and time, because
    // these have a fixed length.
    envelopeBytes: Buffer.byteLength(bodyOf({ id: emptyId, messages: [] }, 0)),
    async send(batch, retry, signal) {
      const ending = new AbortController()
      const timer = setTimeout(() => ending.abort(new TimedOut(timeoutMs)), timeoutMs).unref()
      const stop = (): void => ending.abort(signal.reason)
      signal.addEventListener('abort', stop)
      try {
        return await post(batch, retry, ending.signal)
      } catch (error) {
        return { kind: 'retry', trouble: troubleOf(error), retryAfterMs: undefined }
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
    },
    async close() {
      agent.destroy()
    },
  }
}

const emptyId = '00000000-0000-0000-0000-000000000000'

/** Returns a function that writes the body of a request. `sentAt` is the time of the attempt. */
function createEnvelope(writeKey: string): (batch: Batch, sentAt: number) => string {
  const end = `,"writeKey":${JSON.stringify(writeKey)},"context":${JSON.stringify({ library })}}`
  return ({ id, messages }, sentAt) => {
    const batch = messages.map(message => message.text).join(',')
    return `{"batch":[${batch}],"messageId":"${id}","sentAt":"${new Date(sentAt).toISOString()}"${end}`
  }
}

/**
 * Reads the start of a response body. Never rejects, because an incomplete body does not change
 * whether the batch was accepted.
 */
async function startOf(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxResponseBytes) break
      text += decoder.decode(chunk, { stream: true })
    }
  } catch {
    // The connection broke or the time limit was reached. Return what was read.
  }
  return text + decoder.decode()
}

class TimedOut extends Error {
  readonly code = 'timeout'

  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`)
  }
}

function troubleOf(error: unknown): FailureCause {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // Node throws an AggregateError without a message when it cannot connect to any of several
  // addresses.
  const detail = typeof message === 'string' && message !== '' ? message : String(code ?? error)
  return { code: typeof code === 'string' ? code : 'network', detail: `The request failed: ${detail}.` }
}
