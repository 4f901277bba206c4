import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Trouble } from './failure.ts'
import type { Batch, SendResult, Transport } from './transport.ts'
import { type HttpAnswer, verdictOf } from './verdict.ts'
import { library } from './version.ts'

export interface HttpTransportOptions {
  readonly url: string
  readonly writeKey: string
  /** For one try, from its start until the answer is complete. */
  readonly timeoutMs: number
  readonly now: () => number
}

/** 2,500 rejections fit; nobody has more to say. */
const maxAnswerBytes = 1_048_576
/** Endpoints keep idle connections for five seconds and more; a request must not meet the end of one. */
const idleMs = 4_000

/** Sends batches by POST over kept-alive connections. With Node's own client: `fetch` takes three times its CPU for a request. */
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

  /** Resolves with the head of the answer. */
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
      // An answer that is none, such as a switch of protocols, ends it without an error.
      outgoing.once('close', () => reject(new Error('the connection was closed without an answer')))
      outgoing.end(body)
    })
  }

  async function post(batch: Batch, retry: number, signal: AbortSignal): Promise<SendResult> {
    const response = await exchange(Buffer.from(bodyOf(batch, now())), retry, signal)
    const answer: HttpAnswer = {
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'] ?? null,
      body: await startOf(response),
    }
    return verdictOf(answer, batch.messages, now())
  }

  return {
    // Ids and times are always of the same length.
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

/** The body of a request; `sentAt` is the time of this try. */
function createEnvelope(writeKey: string): (batch: Batch, sentAt: number) => string {
  const end = `,"writeKey":${JSON.stringify(writeKey)},"context":${JSON.stringify({ library })}}`
  return ({ id, messages }, sentAt) => {
    const batch = messages.map(message => message.text).join(',')
    return `{"batch":[${batch}],"messageId":"${id}","sentAt":"${new Date(sentAt).toISOString()}"${end}`
  }
}

/** The head has decided already: whatever happens to the body, the answer counts. */
async function startOf(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) break
      text += decoder.decode(chunk, { stream: true })
    }
  } catch {
    // Cut off or too slow: what was read is what there is.
  }
  return text + decoder.decode()
}

class TimedOut extends Error {
  readonly code = 'timeout'

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

function troubleOf(error: unknown): Trouble {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The failure of several addresses has no message of its own.
  const detail = typeof message === 'string' && message !== '' ? message : String(code ?? error)
  return { code: typeof code === 'string' ? code : 'network', detail: `The endpoint was not reached: ${detail}.` }
}
