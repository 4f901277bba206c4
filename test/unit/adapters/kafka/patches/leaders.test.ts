import { describe, expect, it } from '@jest/globals'
import { type ConsumerGroup, internal } from '../../../../../src/adapters/kafka/internals.ts'
import { cureSlowLeaders } from '../../../../../src/adapters/kafka/patches/leaders.ts'

const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
const original = prototype.findReadReplicaForPartitions
cureSlowLeaders()

type Leaders = readonly { readonly partitionId: number; readonly leader: number | null }[]

const groupOn = (metadata: Leaders): ConsumerGroup =>
  Object.assign(Object.create(prototype) as ConsumerGroup, {
    cluster: { findTopicPartitionMetadata: () => metadata },
    preferredReadReplicasPerTopicPartition: {},
  })

describe('which broker each partition is read from', () => {
  it.each<{ name: string; leaders: Leaders; partitions: number[] }>([
    { name: 'none', leaders: [], partitions: [] },
    { name: 'all of one', leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: 1 })), partitions: [2, 0, 1] },
    {
      name: 'of three',
      leaders: [2, 0, 3, 1].map(partitionId => ({ partitionId, leader: partitionId % 3 })),
      partitions: [0, 1, 2, 3],
    },
    {
      name: 'not ours',
      leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: partitionId })),
      partitions: [1],
    },
    { name: 'not known yet', leaders: [{ partitionId: 0, leader: 4 }], partitions: [0, 7] },
    { name: 'no leader for now', leaders: [{ partitionId: 0, leader: -1 }], partitions: [0] },
  ])('as kafkajs says: $name', ({ leaders, partitions }) => {
    const group = groupOn(leaders)
    const found = group.findReadReplicaForPartitions('t', partitions)
    expect(found).toEqual(original.call(group, 't', partitions))
  })

  it('one that has no leader at all is refused as kafkajs does', () => {
    const find = (): unknown => groupOn([{ partitionId: 0, leader: null }]).findReadReplicaForPartitions('t', [0])
    expect(find).toThrow('Invalid partition metadata')
  })

  it('looks at each partition once', () => {
    let looks = 0
    const leaders = Array.from({ length: 100 }, (_, id) => ({
      leader: 1,
      get partitionId() {
        looks++
        return id
      },
    }))
    groupOn(leaders).findReadReplicaForPartitions(
      't',
      Array.from({ length: 100 }, (_, id) => id),
    )
    expect(looks).toBe(100)
  })
})
