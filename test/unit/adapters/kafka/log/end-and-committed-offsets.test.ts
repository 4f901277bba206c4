import { expect, it } from '@jest/globals'
import type { Admin } from 'kafkajs'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import { createLogPositions } from '../../../../../src/adapters/kafka/log/end-and-committed-offsets.ts'

const protocolError = (type: string): Error =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: true })

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
