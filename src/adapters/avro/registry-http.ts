import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
import type { Settings } from '../../core/settings/settings.ts'

export interface RegistryResponse {
  readonly status: number
  readonly text: string
  /** Empty if the response has no JSON object. */
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Sends a request, with up to two retries after a failure or a 5xx response. The result may be a
 * 5xx response. `path` begins with a slash.
 */
export type CallRegistry = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<RegistryResponse>

/** Maximum characters of a response. A schema has at most a few hundred thousand characters. */
const maxResponseLength = 16 * 1024 * 1024

/** Milliseconds before the first and the second retry. */
const retryDelaysMs = [100, 200]

/** Creates the HTTP client of a registry. `limitMs`: maximum time of a call with its retries. */
export function createRegistryHttp(url: string, { auth, ca }: Settings['registry'], limitMs: number): CallRegistry {
  const isTls = /^https:/i.test(url)
  const credentials = auth && `${auth.username.reveal()}:${auth.password.reveal()}`
  const options = {
    headers: {
      'content-type': 'application/vnd.schemaregistry.v1+json',
      'user-agent': 'hookline',
      ...(credentials !== undefined && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    ...(isTls && ca !== undefined && { agent: new Agent({ ca: [...rootCertificates, ca] }) }),
  }

  async function send(method: string, path: string, body: object | undefined, signal: AbortSignal) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(`${url}${path}`, { ...options, method, signal }, resolve)
      request.on('error', reject)
      // After a 101, Node closes the connection without an error.
      request.on('close', () => reject(new Error('the connection closed before the response')))
      request.end(body && JSON.stringify(body))
    })
    let content = ''
    // The loop throws if the connection ends before the response is complete.
    for await (const piece of response.setEncoding('utf8')) {
      content += piece
      if (content.length > maxResponseLength)
        throw new Error(`the response has more than ${maxResponseLength} characters`)
    }
    return { status: response.statusCode ?? 0, text: content, body: objectIn(content) }
  }

  return async (method, path, body) => {
    const signal = AbortSignal.timeout(limitMs)
    let last: RegistryResponse | undefined
    try {
      for (const delayMs of retryDelaysMs) {
        last = (await send(method, path, body, signal).catch(() => undefined)) ?? last
        if (last !== undefined && last.status < 500) return last
        await delay(delayMs, undefined, { signal })
      }
      return await send(method, path, body, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      // The time limit ended a try. An earlier 5xx response says more than a timeout.
      if (last !== undefined) return last
      throw new Error(`no response within ${limitMs} ms`, { cause: error })
    }
  }
}

function objectIn(content: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(content)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}
