import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
import type { Settings } from '../../core/settings/settings.ts'

/** A complete response of a schema registry. */
export interface RegistryResponse {
  readonly status: number
  readonly text: string
  /** The JSON object in the response; empty if the response contains none. */
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Sends a request to the registry, and again after a failure or a 5xx response. `path` begins with
 * a slash. Rejects if the registry does not respond completely within the time limit.
 */
export type CallRegistry = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<RegistryResponse>

/** Milliseconds before the first and the second retry. */
const retryDelaysMs = [100, 200]

/** Creates the HTTP client of one registry. `limitMs` is the time limit of a call with its retries. */
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
      request.on('error', reject).end(body && JSON.stringify(body))
    })
    // `text` rejects if the connection ends before the response does.
    const content = await text(response)
    return { status: response.statusCode ?? 0, text: content, body: objectIn(content) }
  }

  return async (method, path, body) => {
    const signal = AbortSignal.timeout(limitMs)
    try {
      for (const delayMs of retryDelaysMs) {
        const response = await send(method, path, body, signal).catch(() => undefined)
        if (response !== undefined && response.status < 500) return response
        await delay(delayMs, undefined, { signal })
      }
      return await send(method, path, body, signal)
    } catch (error) {
      throw signal.aborted ? new Error(`no response within ${limitMs} ms`, { cause: error }) : error
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
