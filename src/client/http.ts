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

/** Sends batches by POST, with the platform's own `fetch` and its kept-alive connections. */
export function createHttpTransport({ url, writeKey, timeoutMs, now }: HttpTransportOptions): Transport {
  const bodyOf = createEnvelope(writeKey)
  const headers = {
    authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
    'content-type': 'application/json',
    'user-agent': `${library.name}/${library.version}`,
  }

  async function post(batch: Batch, retry: number, signal: AbortSignal): Promise<SendResult> {
    const response = await fetch(url, {
      method: 'POST',
      headers: retry === 0 ? headers : { ...headers, 'x-retry-count': String(retry) },
      body: bodyOf(batch, now()),
      redirect: 'manual',
      signal,
    })
    const answer: HttpAnswer = {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
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
async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength
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

/** `fetch` says only "fetch failed"; what happened is its cause. */
function troubleOf(error: unknown): Trouble {
  const cause = (error as { cause?: unknown }).cause ?? error
  const { code, message } = cause as { code?: unknown; message?: unknown }
  const detail = typeof message === 'string' && message !== '' ? message : String(code ?? error)
  return { code: typeof code === 'string' ? code : 'network', detail: `The endpoint was not reached: ${detail}.` }
}
