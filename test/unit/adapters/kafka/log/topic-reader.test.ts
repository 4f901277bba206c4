import { describe, expect, it } from '@jest/globals'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import { KafkaError } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'
import { createReader } from '../../../../../src/adapters/kafka/log/topic-reader.ts'
import { ManualClock, turns } from '../../../../support/manual-clock.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'

const topic = 'events'
const election = Object.assign(new Error('an election'), { type: 'LEADER_NOT_AVAILABLE', retriable: true })
const refused = Object.assign(new Error('refused'), { type: 'TOPIC_AUTHORIZATION_FAILED', retriable: false })

/**
 * A client of logs whose records all expired. `fails` returns the error of the nth offset request
 * for a partition.
 */
function asking(fails: (partition: number, question: number) => Error | undefined, partitions = 1) {
  const asked = Array.from({ length: partitions }, () => 0)
  let isConnected = true
  let askedLate = 0
  const cluster = {
    connect: async () => undefined,
    disconnect: async () => {
      isConnected = false
    },
    addTargetTopic: async () => undefined,
    refreshMetadata: async () => undefined,
    findTopicPartitionMetadata: () => asked.map((_, partitionId) => ({ partitionId, leader: 1 })),
    fetchTopicsOffset: async ([
      {
        partitions: [{ partition }],
      },
    ]: [{ partitions: [{ partition: number }] }]) => {
      if (!isConnected) askedLate++
      const error = fails(partition, (asked[partition] as number)++)
      if (error !== undefined) throw error
      return [{ topic, partitions: [{ partition, offset: '7' }] }]
    },
  }
  const kafka = {
    consumer: ({ partitionAssigners: [assigner] }: { partitionAssigners: [(config: object) => unknown] }) =>
      assigner({ cluster, groupId: 'none', logger: {} }),
  } as unknown as KafkaClient
  const clock = new ManualClock()
  const reader = createReader({ kafka, clock, logger: silent })
  const settle = () => turns(5)
  const ended = async <T>(result: Promise<T>): Promise<T | KafkaError> => {
    const caught = result.catch((error: KafkaError) => error)
    await clock.advance(60_000, settle)
    return caught
  }
  return { reader, ended, left: () => ({ isConnected, askedLate, timers: clock.timers }) }
}

const nothingLeft = { isConnected: false, askedLate: 0, timers: 0 }

describe('the end of a log', () => {
  it.each([
    ['immediately', () => undefined],
    ['after the election of its leader', (_: number, question: number) => (question < 8 ? election : undefined)],
  ])('is found %s', async (_, fails) => {
    const { reader, ended, left } = asking(fails)
    expect(await ended(reader.endOf({ topic, partition: 0 }))).toBe(7)
    expect(left()).toEqual(nothingLeft)
  })

  it.each([
    ['no leader is elected', election],
    ['the request is not authorized', refused],
  ])('is not found when %s', async (_, error) => {
    const { reader, ended, left } = asking(() => error)
    const thrown = await ended(reader.endOf({ topic, partition: 0 }))
    expect(thrown).toBeInstanceOf(KafkaError)
    expect(thrown).toMatchObject({ code: error.type, retriable: error.retriable })
    expect(left()).toEqual(nothingLeft)
  })
})

it('rejects only after the requests for all partitions have ended', async () => {
  const fails = (partition: number, question: number) =>
    partition === 0 ? refused : question < 8 ? election : undefined
  const { reader, ended, left } = asking(fails, 2)
  const thrown = await ended(reader.readToEnd(topic, () => undefined))
  expect(thrown).toMatchObject({ code: 'TOPIC_AUTHORIZATION_FAILED' })
  expect(left()).toEqual(nothingLeft)
})

it('reports the records of the portion that retention has removed', async () => {
  const { reader, ended, left } = asking(() => undefined, 3)
  const found: unknown[] = []
  const onRemoved = (...removal: readonly number[]) => void found.push(removal)
  expect(await ended(reader.readToEnd(topic, () => undefined, { from: [3, 5, 7], to: [5, 5, 9], onRemoved }))).toBe(0)
  expect([found, left()]).toEqual([[[0, 7]], nothingLeft])
})
