import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import got from 'got'
import { Client } from 'undici'
import { numberIn } from '../sample-events.ts'

export interface PostSettings {
  readonly client: 'got' | 'undici'
  /** With several URLs, the number of an event selects one. */
  readonly urls: readonly string[]
  /** Maximum requests in progress, in all partitions together. */
  readonly inFlight: number
}

/** Makes one request. `onEnd` is called exactly once. */
export type Post = (value: Buffer, onEnd: (error?: Error) => void) => void
const headers = { 'content-type': 'application/octet-stream' }
const timeoutMs = 5_000

/** The operating system does not resolve the names of the receiver below `.localhost`. */
const lookup: LookupFunction = (_name, { all }, callback) =>
  all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4)

const chosen = <T>(each: readonly T[], value: Buffer): T =>
  each[each.length === 1 ? 0 : (numberIn(value) ?? 0) % each.length] as T

const refused = (status: number): Error => new Error(`the endpoint responded ${status}`)

/** got's stream API costs less CPU than its promise API. */
function gotPost({ urls, inFlight }: PostSettings): Post {
  const { Agent, request } = urls[0]?.startsWith('https:') ? https : http
  // By default, an agent closes idle connections above 256. With more requests in progress, it
  // would often open new ones.
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight, maxFreeSockets: inFlight, lookup })
  const client = got.extend({
    method: 'POST',
    headers,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    followRedirect: false,
    timeout: { request: timeoutMs },
  })
  const targets = urls.map(url => ({ url, ...partsOf(url) }))
  return (value, onEnd) => {
    const { url, hostname, port, path } = chosen(targets, value)
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

function partsOf(url: string) {
  const { origin, hostname, port, pathname: path } = new URL(url)
  return { origin, hostname, port, path }
}

/**
 * One undici client per connection. undici's pool would search all its connections for an idle one.
 */
function undiciPost({ urls }: PostSettings): Post {
  const targets = urls.map(url => ({ ...partsOf(url), idle: [] as Client[] }))
  return (body, onEnd) => {
    const { origin, path, idle } = chosen(targets, body)
    const client = idle.pop() ?? new Client(origin, { headersTimeout: timeoutMs, connect: { lookup } })
    let status = 0
    client.dispatch(
      { path, method: 'POST', headers, body },
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
