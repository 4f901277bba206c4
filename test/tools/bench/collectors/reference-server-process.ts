import fastify from 'fastify'
import kafkajs from 'kafkajs'

/*
 * Minimal server for batches. If `topic` is set, it writes each message unchanged before it
 * responds.
 */

export interface ReferenceServerSettings {
  readonly port: number
  readonly brokers: readonly string[]
  readonly topic: string | undefined
}

interface Batch {
  readonly batch: readonly { readonly userId: string }[]
}

const { port, brokers, topic } = JSON.parse(process.argv[2] ?? '') as ReferenceServerSettings
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
