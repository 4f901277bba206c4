import type { LogRecord } from '../../../src/core/ports.ts'
import type { Installation } from './installation.ts'
import { inHookline } from './scenario-steps.ts'

/**
 * Returns a program that prints all records of a topic. It runs in a pod, because only pods can
 * resolve the broker's name. `process.exit` discards pending output, so `end` writes the output
 * first.
 */
const program = (topic: string): string => `
const { Kafka, logLevel } = require('/app/node_modules/kafkajs')
const kafka = new Kafka({ brokers: ['kafka-bootstrap.kafka:9092'], logLevel: logLevel.NOTHING })
const text = value => value && value.toString()
const lines = []
const end = () => process.stdout.write(lines.join('\\n'), () => process.exit(0))
async function read() {
  const admin = kafka.admin()
  await admin.connect()
  const places = await admin.fetchTopicOffsets('${topic}')
  await admin.disconnect()
  const unread = new Set(places.filter(({ low, high }) => low !== high).map(({ partition }) => partition))
  if (unread.size === 0) return end()
  const ends = new Map(places.map(({ partition, high }) => [partition, BigInt(high)]))
  const consumer = kafka.consumer({ groupId: 'test-cluster' })
  await consumer.connect()
  await consumer.subscribe({ topic: '${topic}', fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message: { offset, key, value, headers } }) => {
      const texts = Object.fromEntries(Object.entries(headers).map(([name, each]) => [name, text(each)]))
      lines.push(JSON.stringify({ key: text(key), value: text(value), headers: texts }))
      const isLast = BigInt(offset) + 1n >= ends.get(partition)
      if (isLast && unread.delete(partition) && unread.size === 0) end()
    },
  })
}
read().catch(error => { console.error(error); process.exit(1) })
setTimeout(() => { console.error('not read in time'); process.exit(1) }, 60000)
`

interface Line {
  readonly key: string | null
  readonly value: string | null
  readonly headers: LogRecord['headers']
}

export async function readTopic({ shell }: Installation, topic: string) {
  const node = `${inHookline} exec --stdin deploy/hookline-operator -- /nodejs/bin/node -`
  const lines = await shell(`${node} <<'END'\n${program(topic)}\nEND`)
  return lines
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const { key, value, headers } = JSON.parse(line) as Line
      return { key: bytesOf(key), value: bytesOf(value), headers }
    })
}

const bytesOf = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))
