import { Agent, type ClientRequest, request } from 'node:http'
import got from 'got'
import kafkajs from 'kafkajs'
import { Client } from 'undici'

/*
 * The reference loop: the cheapest correct use of kafkajs and an HTTP client. It forwards each
 * value unchanged and keeps a fixed number of requests in progress per partition. It commits a
 * batch when each value of the batch got a 2xx. It has no decoding, signatures, retries, order or
 * metrics.
 */

export interface LoopSettings {
  readonly client: 'got' | 'undici'
  readonly brokers: readonly string[]
  readonly topic: string
  readonly group: string
  readonly url: string
  /** Maximum number of requests in progress, in all partitions together. */
  readonly inFlight: number
  readonly partitions: number
}

/** Makes one request. `onEnd` is called exactly once. */
type Post = (value: Buffer, onEnd: (error?: Error) => void) => void
const headers = { 'content-type': 'application/octet-stream' }
const timeoutMs = 5_000

const refused = (status: number): Error => new Error(`the endpoint responded ${status}`)

/**
 * Makes requests with got's stream API, which costs less CPU than its promise API. Its agent keeps
 * every connection open.
 */
function gotPost({ url, inFlight }: LoopSettings): Post {
  // By default, a Node agent keeps at most 256 idle connections and closes all others. With more
  // requests in progress, it would often open new connections.
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
 * Makes requests with one undici client per connection. undici's pool would search all of its
 * connections for an idle one.
 */
function undiciPost({ url }: LoopSettings): Post {
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

const settings = JSON.parse(process.argv[2] ?? '') as LoopSettings
const post = settings.client === 'got' ? gotPost(settings) : undiciPost(settings)
const perPartition = Math.ceil(settings.inFlight / settings.partitions)

interface Message {
  readonly value: Buffer | null
}

/**
 * Sends the values of a batch. Resolves when every value got a 2xx. Rejects at the first failure,
 * so that kafkajs fetches the batch again.
 */
const forward = (messages: readonly Message[]): Promise<void> =>
  new Promise((resolve, reject) => {
    let next = 0
    let ended = 0
    const startNext = (): void => {
      const message = messages[next++]
      if (message !== undefined) post(message.value ?? Buffer.alloc(0), onEnd)
    }
    const onEnd = (error?: Error): void => {
      if (error !== undefined) reject(error)
      else if (++ended === messages.length) resolve()
      else startNext()
    }
    for (let started = 0; started < Math.min(perPartition, messages.length); started++) startNext()
  })

const kafka = new kafkajs.Kafka({ brokers: [...settings.brokers], clientId: 'reference-loop' })
const consumer = kafka.consumer({ groupId: settings.group })
await consumer.connect()
await consumer.subscribe({ topic: settings.topic, fromBeginning: true })
await consumer.run({
  partitionsConsumedConcurrently: settings.partitions,
  eachBatchAutoResolve: false,
  eachBatch: async ({ batch: { messages }, resolveOffset, commitOffsetsIfNecessary, heartbeat }) => {
    if (messages.length === 0) return
    await forward(messages)
    resolveOffset(messages.at(-1)?.offset ?? '')
    await commitOffsetsIfNecessary()
    await heartbeat()
  },
})

process.on('SIGTERM', () => {
  consumer.disconnect().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
