import { expect, it } from '@jest/globals'
import { createAdmin } from '../../../src/adapters/kafka/log/topic-admin.ts'
import type { TopicAdmin } from '../../../src/core/ports.ts'
import { afterwards, kafka, uniqueName } from './test-clients-and-topics.ts'

function admin(on?: string[]): TopicAdmin {
  const created = createAdmin(kafka(on))
  afterwards(() => created.close())
  return created
}

const topic = (config: Record<string, string> = {}) => ({
  name: uniqueName(),
  partitions: 3,
  replicationFactor: 1,
  config,
})

it('creates, lists and describes a topic', async () => {
  const one = admin()
  const wanted = topic({ 'cleanup.policy': 'compact,delete', 'retention.ms': '60000' })
  await one.create(wanted)
  expect(await one.listTopics()).toContain(wanted.name)
  const [described] = await one.describe([wanted.name])
  expect(described).toMatchObject({ name: wanted.name, partitions: 3, replicationFactor: 1 })
  expect(described).toMatchObject({ leaderless: 0, underMinIsr: 0 })
  expect(described?.config).toMatchObject(wanted.config)
  expect(described?.config).toHaveProperty(['min.insync.replicas'])
})

it('describes existing topics and omits missing ones', async () => {
  const one = admin()
  const [first, second] = [topic(), topic()]
  await one.create(first)
  expect((await one.describe([first.name, second.name])).map(({ name }) => name)).toEqual([first.name])
  expect(await one.describe([second.name])).toEqual([])
})

it('resolves without a change when the topic to create exists', async () => {
  const one = admin()
  const wanted = topic()
  await one.create(wanted)
  await one.create({ ...wanted, partitions: 5 })
  expect(await one.describe([wanted.name])).toMatchObject([{ partitions: 3 }])
})

it.each([
  { name: 'an unknown topic configuration', wanted: topic({ 'no.such.setting': '1' }), code: 'INVALID_CONFIG' },
  {
    name: 'more replicas than brokers',
    wanted: { ...topic(), replicationFactor: 5 },
    code: 'INVALID_REPLICATION_FACTOR',
  },
  { name: 'an invalid name', wanted: { ...topic(), name: 'no good' }, code: 'INVALID_TOPIC_EXCEPTION' },
])('rejects $name with Kafka’s error', async ({ wanted, code }) => {
  await expect(admin().create(wanted)).rejects.toMatchObject({
    name: 'KafkaError',
    code,
    retriable: false,
    message: expect.stringContaining(`cannot create topic ${wanted.name}`),
  })
})

it('rejects with the connection error when no broker listens', async () => {
  await expect(admin(['127.0.0.1:1']).listTopics()).rejects.toMatchObject({ code: 'ECONNREFUSED', retriable: true })
})
