import kafkajs from 'kafkajs'
import { hostUrls } from '../host-urls.ts'
import { createPost, type PostSettings } from './reference-loop-post.ts'

/*
 * The reference loop: the cheapest correct use of kafkajs and an HTTP client, without decoding,
 * signatures, retries, order or metrics.
 */

export interface LoopSettings extends Omit<PostSettings, 'urls'> {
  /** URL of the first host. */
  readonly url: string
  readonly hosts: number
  readonly brokers: readonly string[]
  readonly topic: string
  readonly group: string
  readonly partitions: number
}

const settings = JSON.parse(process.argv[2] ?? '') as LoopSettings
const post = createPost({ ...settings, urls: hostUrls(settings.url, settings.hosts) })
const perPartition = Math.ceil(settings.inFlight / settings.partitions)

interface Message {
  readonly value: Buffer | null
}

/**
 * Resolves when every value got a 2xx. Rejects at the first failure, so that kafkajs fetches the
 * batch again.
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
