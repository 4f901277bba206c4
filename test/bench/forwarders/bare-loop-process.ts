import { Agent } from 'node:http'
import got from 'got'
import kafkajs from 'kafkajs'
import { Pool } from 'undici'

/* The usual loop: fetch, forward each value as it is, a window at a time, commit. No decoding, no signature, no retries, no metrics, no order. */

export interface LoopSettings {
  readonly client: 'got' | 'undici'
  readonly brokers: readonly string[]
  readonly topic: string
  readonly group: string
  readonly url: string
  readonly inFlight: number
  /** All are consumed at once, each with its part of the calls in flight. */
  readonly partitions: number
}

type Post = (value: Buffer) => Promise<unknown>
const headers = { 'content-type': 'application/octet-stream' }

function gotPost({ url, inFlight }: LoopSettings): Post {
  // Node keeps 256 idle connections at most by default and opens the others anew each time.
  const agent = { http: new Agent({ keepAlive: true, maxSockets: inFlight, maxFreeSockets: inFlight }) }
  const client = got.extend({
    agent,
    headers,
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { request: 5_000 },
  })
  // got clones what stands behind a Buffer, here the whole fetched response: so it gets bytes of its own.
  return value => client.post(url, { body: new Uint8Array(value) })
}

function undiciPost({ url, inFlight }: LoopSettings): Post {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections: inFlight, headersTimeout: 5_000 })
  return async body => {
    const response = await pool.request({ path, method: 'POST', headers, body })
    await response.body.dump()
  }
}

const settings = JSON.parse(process.argv[2] ?? '') as LoopSettings
const post = settings.client === 'got' ? gotPost(settings) : undiciPost(settings)
const kafka = new kafkajs.Kafka({ brokers: [...settings.brokers], clientId: 'bare-loop' })
const window = Math.ceil(settings.inFlight / settings.partitions)
const consumer = kafka.consumer({ groupId: settings.group })
await consumer.connect()
await consumer.subscribe({ topic: settings.topic, fromBeginning: true })
await consumer.run({
  partitionsConsumedConcurrently: settings.partitions,
  eachBatchAutoResolve: false,
  eachBatch: async ({ batch: { messages }, resolveOffset, commitOffsetsIfNecessary, heartbeat }) => {
    for (let from = 0; from < messages.length; from += window) {
      const taken = messages.slice(from, from + window)
      await Promise.all(taken.map(({ value }) => value && post(value)))
      resolveOffset(taken.at(-1)?.offset ?? '')
      await commitOffsetsIfNecessary()
      await heartbeat()
    }
  },
})

process.on('SIGTERM', () => {
  consumer.disconnect().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
