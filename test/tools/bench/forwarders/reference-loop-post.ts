import { Agent, type ClientRequest, request } from 'node:http'
import got from 'got'
import { Client } from 'undici'

export interface PostSettings {
  readonly client: 'got' | 'undici'
  readonly url: string
  /** Maximum requests in progress, in all partitions together. */
  readonly inFlight: number
}

/** Makes one request. `onEnd` is called exactly once. */
export type Post = (value: Buffer, onEnd: (error?: Error) => void) => void
const headers = { 'content-type': 'application/octet-stream' }
const timeoutMs = 5_000

const refused = (status: number): Error => new Error(`the endpoint responded ${status}`)

/** got's stream API costs less CPU than its promise API. */
function gotPost({ url, inFlight }: PostSettings): Post {
  // By default, an agent closes idle connections above 256. With more requests in progress, it
  // would often open new ones.
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight, maxFreeSockets: inFlight })
  const client = got.extend({
    method: 'POST',
    headers,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    followRedirect: false,
    timeout: { request: timeoutMs },
  })
  const { hostname, port, pathname: path } = new URL(url)
  return (value, onEnd) => {
    const send = (): ClientRequest =>
      request({
        ...{ method: 'POST', hostname, port, path, agent },
        headers: { ...headers, 'content-length': value.length },
      })
    const stream = client.stream(url, { request: send })
    let status = 0
    stream.on('response', response => {
      status = response.statusCode
    })
    stream.on('error', onEnd)
    stream.on('end', () => onEnd(status < 300 ? undefined : refused(status)))
    stream.resume()
    stream.end(value)
  }
}

/**
 * One undici client per connection. undici's pool would search all its connections for an idle one.
 */
function undiciPost({ url }: PostSettings): Post {
  const { origin, pathname: path } = new URL(url)
  const idle: Client[] = []
  const options = { path, method: 'POST', headers } as const
  return (body, onEnd) => {
    const client = idle.pop() ?? new Client(origin, { headersTimeout: timeoutMs })
    let status = 0
    client.dispatch(
      { ...options, body },
      {
        onRequestStart: () => undefined,
        onResponseData: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode
        },
        onResponseEnd: () => {
          idle.push(client)
          onEnd(status < 300 ? undefined : refused(status))
        },
        onResponseError: (_controller, error) => onEnd(error),
      },
    )
  }
}

export const createPost = (settings: PostSettings): Post =>
  settings.client === 'got' ? gotPost(settings) : undiciPost(settings)
