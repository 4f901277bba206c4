import { expect, it } from '@jest/globals'
import type { Admin } from 'kafkajs'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import {
  createAdmin,
  createLogPositions,
} from '../../../../../src/adapters/kafka/log/topic-admin-and-committed-offsets.ts'

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

it('reads committed offsets again while the coordinator of the group starts', async () => {
  const errors = ['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP']
  const left = errors.map(protocolError)
  const admin: Partial<Admin> = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    fetchOffsets: async () => {
      const error = left.shift()
      if (error !== undefined) throw error
      return [{ topic: 'events', partitions: [{ partition: 0, offset: '7', metadata: null }] }]
    },
  }
  const kafka: Partial<KafkaClient> = { admin: () => admin as Admin }
  expect(await createLogPositions(kafka as KafkaClient).committed('dispatchers', 'events')).toEqual([7])
})

it('reads end offsets again while the leader of a partition changes', async () => {
  const left = ['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE'].map(protocolError)
  const admin: Partial<Admin> = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    fetchTopicOffsets: async () => {
      const error = left.shift()
      if (error !== undefined) throw error
      return [{ partition: 0, offset: '7', high: '7', low: '0' }]
    },
  }
  const kafka: Partial<KafkaClient> = { admin: () => admin as Admin }
  expect(await createLogPositions(kafka as KafkaClient).ends('events')).toEqual([7])
})
