import fastify from 'fastify'
import kafkajs from 'kafkajs'

/* The least that can take batches in: parse the body, answer. With a topic, write each message there as it came, then answer. */

export interface BareSettings {
  readonly port: number
  readonly brokers: readonly string[]
  /** Undefined: nothing is written. */
  readonly topic: string | undefined
}

interface Batch {
  readonly batch: readonly { readonly userId: string }[]
}

const { port, brokers, topic } = JSON.parse(process.argv[2] ?? '') as BareSettings
const producer = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).producer({
  allowAutoTopicCreation: false,
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
})
if (topic !== undefined) await producer.connect()

const server = fastify({ bodyLimit: 4_194_304 })
server.post<{ Body: Batch }>('/v1/batch', async ({ body }) => {
  if (topic !== undefined) {
    const messages = body.batch.map(message => ({ key: message.userId, value: JSON.stringify(message) }))
    await producer.send({ topic, acks: -1, messages })
  }
  return { success: true }
})
await server.listen({ port, host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit())
