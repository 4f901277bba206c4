import { expect, it } from '@jest/globals'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import { createFollower } from '../../../../../src/adapters/kafka/log/topic-follower.ts'
import { sleep } from '../../../../../src/core/sleep-and-yield.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { RecordingFollower } from '../../../../support/kafka/recording-follower-handlers.ts'
import { ManualClock, turns } from '../../../../support/manual-clock.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'

const topic = 'suppressions'
const clock = new ManualClock()
const settle = () => turns(5)

interface Fetch {
  readonly maxWaitTime: number
  readonly topics: readonly [{ readonly partitions: readonly { partition: number; fetchOffset: string }[] }]
}

/** A client of one broker. `logs` returns the values by partition. */
function clientOf(logs: () => readonly (readonly string[])[]): KafkaClient {
  const broker = {
    fetch: async ({ maxWaitTime, topics: [{ partitions }] }: Fetch) => {
      await sleep(clock, durationMs(maxWaitTime))
      const read = partitions.map(({ partition, fetchOffset }) => {
        const values = logs()[partition] ?? []
        if (Number(fetchOffset) > values.length)
          throw Object.assign(new Error('out of range'), { type: 'OFFSET_OUT_OF_RANGE' })
        const end = String(values.length)
        const all = values.map((value, offset) => ({
          offset: String(offset),
          timestamp: '1',
          key: null,
          value: Buffer.from(value),
        }))
        return { partition, highWatermark: end, lastStableOffset: end, messages: all.slice(Number(fetchOffset)) }
      })
      return { responses: [{ topicName: topic, partitions: read }] }
    },
  }
  const cluster = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    addTargetTopic: async () => undefined,
    refreshMetadata: async () => undefined,
    findTopicPartitionMetadata: () => logs().map((_, partitionId) => ({ partitionId, leader: 1 })),
    findBroker: async ({ nodeId }: { nodeId: number }) => {
      if (nodeId !== 1) throw new Error(`broker ${nodeId} does not exist`)
      return broker
    },
    fetchTopicsOffset: async ([{ partitions, fromBeginning }]: [
      { partitions: [{ partition: number }]; fromBeginning: boolean },
    ]) => {
      const [{ partition }] = partitions
      return [{ topic, partitions: [{ partition, offset: String(fromBeginning ? 0 : logs()[partition]?.length) }] }]
    },
  }
  return {
    consumer: ({ partitionAssigners: [assigner] }: { partitionAssigners: [(config: object) => unknown] }) =>
      assigner({ cluster, groupId: 'none', logger: {} }),
  } as unknown as KafkaClient
}

it('reads all records of a topic that was created again with fewer partitions', async () => {
  let logs = [['a', 'b'], ['c'], []] as string[][]
  const followed = new RecordingFollower()
  const follower = createFollower({ kafka: clientOf(() => logs), topic, clock, logger: silent })
  const started = follower.start(followed)
  await clock.advance(1_000, settle)
  await started
  expect(followed.values.toSorted()).toEqual(['a', 'b', 'c'])
  expect(followed.truncated).toEqual([])
  // The new partition 0 has more records than the follower has read from the deleted partition 0.
  logs = [['d', 'e', 'f']]
  await clock.advance(60_000, settle)
  expect(followed.values.slice(-3)).toEqual(['d', 'e', 'f'])
  expect(followed.truncated).toEqual([0, 1, 2])
  expect(clock.boottime() - followed.asOf).toBeLessThanOrEqual(1_000)
})

it('reports a partition whose log ends before the records that were read, also when it is empty', async () => {
  let logs = [['a', 'b'], ['c']] as string[][]
  const followed = new RecordingFollower()
  const follower = createFollower({ kafka: clientOf(() => logs), topic, clock, logger: silent })
  const started = follower.start(followed)
  await clock.advance(1_000, settle)
  await started
  logs = [[], ['c', 'd']]
  await clock.advance(10_000, settle)
  expect(followed.truncated).toEqual([0])
  expect(clock.boottime() - followed.asOf).toBeLessThanOrEqual(1_000)
  logs[0] = ['e']
  await clock.advance(1_000, settle)
  expect(followed.values.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
})
