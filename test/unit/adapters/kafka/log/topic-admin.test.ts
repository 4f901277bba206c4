import { expect, it } from '@jest/globals'
import type { Admin } from 'kafkajs'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import { createAdmin } from '../../../../../src/adapters/kafka/log/topic-admin.ts'

const protocolError = (type: string): Error =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: true })

const partition = (leader: number, isr: readonly number[]) => ({ leader, isr, replicas: [1, 2, 3] })

/** The brokers first list a topic and then give these responses, in order. */
function brokersThatSay(...answers: readonly (Error | 'known' | readonly object[])[]) {
  const left = [...answers]
  const admin = {
    connect: async () => undefined,
    listTopics: async () => ['events'],
    fetchTopicMetadata: async () => {
      const answer = left.shift()
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often')
      return { topics: [{ name: 'events', partitions: answer === 'known' ? [partition(1, [1, 2, 3])] : answer }] }
    },
    describeConfigs: async () => ({
      resources: [{ resourceName: 'events', configEntries: [{ configName: 'min.insync.replicas', configValue: '2' }] }],
    }),
  }
  const kafka: Partial<KafkaClient> = { admin: () => admin as unknown as Admin }
  return { admin: createAdmin(kafka as KafkaClient), left }
}

it('describes a new topic that some brokers do not know yet', async () => {
  const { admin, left } = brokersThatSay(
    protocolError('UNKNOWN_TOPIC_OR_PARTITION'),
    protocolError('LEADER_NOT_AVAILABLE'),
    'known',
  )
  expect(await admin.describe(['events'])).toEqual([
    {
      ...{ name: 'events', partitions: 1, replicationFactor: 3, config: { 'min.insync.replicas': '2' } },
      ...{ leaderless: 0, underMinIsr: 0 },
    },
  ])
  expect(left).toEqual([])
})

it('counts the partitions without a leader, and the others with fewer in-sync replicas than required', async () => {
  const { admin } = brokersThatSay([
    ...[partition(1, [1, 2, 3]), partition(2, [2, 3]), partition(3, [3])],
    ...[partition(-1, []), partition(-1, [2])],
  ])
  expect(await admin.describe(['events'])).toMatchObject([{ partitions: 5, leaderless: 2, underMinIsr: 1 }])
})

it('does not retry a refused request', async () => {
  const { admin, left } = brokersThatSay(protocolError('TOPIC_AUTHORIZATION_FAILED'), 'known')
  await expect(admin.describe(['events'])).rejects.toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
  expect(left).toEqual(['known'])
})
