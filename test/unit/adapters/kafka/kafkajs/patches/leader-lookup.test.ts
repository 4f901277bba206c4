import { describe, expect, it } from '@jest/globals'
import { patchLeaderLookup } from '../../../../../../src/adapters/kafka/kafkajs/patches/leader-lookup.ts'
import { type Cluster, type ConsumerGroup, internal } from '../../../../../../src/adapters/kafka/kafkajs/private-api.ts'

type Leaders = readonly { readonly partitionId: number; readonly leader: number | null }[]
type Find = (leaders: Leaders, partitions: readonly (number | string)[]) => unknown

const cluster = internal<{ prototype: Cluster }>('cluster').prototype
const group = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup').prototype

const clusterWith = (leaders: Leaders): Cluster =>
  Object.assign(Object.create(cluster) as Cluster, { findTopicPartitionMetadata: () => leaders })
const groupWith = (leaders: Leaders): ConsumerGroup =>
  Object.assign(Object.create(group) as ConsumerGroup, {
    cluster: clusterWith(leaders),
    preferredReadReplicasPerTopicPartition: {},
  })
const { findLeaderForPartitions } = cluster
const { findReadReplicaForPartitions } = group
patchLeaderLookup()

describe.each<[to: string, find: Find, original: Find]>([
  [
    'written to',
    (leaders, partitions) => clusterWith(leaders).findLeaderForPartitions('t', partitions),
    (leaders, partitions) => findLeaderForPartitions.call(clusterWith(leaders), 't', partitions),
  ],
  [
    'read from',
    (leaders, partitions) => groupWith(leaders).findReadReplicaForPartitions('t', partitions),
    (leaders, partitions) => findReadReplicaForPartitions.call(groupWith(leaders), 't', partitions),
  ],
])('which broker each partition is %s', (_to, find, original) => {
  it.each<{ name: string; leaders: Leaders; partitions: (number | string)[] }>([
    { name: 'none', leaders: [], partitions: [] },
    { name: 'all of one', leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: 1 })), partitions: [2, 0, 1] },
    {
      name: 'of three',
      leaders: [2, 0, 3, 1].map(partitionId => ({ partitionId, leader: partitionId % 3 })),
      partitions: [0, 1, 2, 3],
    },
    {
      name: 'by text',
      leaders: [0, 1].map(partitionId => ({ partitionId, leader: partitionId })),
      partitions: ['1', '0'],
    },
    {
      name: 'not ours',
      leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: partitionId })),
      partitions: [1],
    },
    { name: 'not known yet', leaders: [{ partitionId: 0, leader: 4 }], partitions: [0, 7] },
    { name: 'no leader for now', leaders: [{ partitionId: 0, leader: -1 }], partitions: [0] },
  ])('as kafkajs says: $name', ({ leaders, partitions }) => {
    expect(find(leaders, partitions)).toEqual(original(leaders, partitions))
  })

  it('one that has no leader at all is refused as kafkajs does', () => {
    expect(() => find([{ partitionId: 0, leader: null }], [0])).toThrow('Invalid partition metadata')
  })

  it('looks at each partition once', () => {
    let looks = 0
    const ids = Array.from({ length: 100 }, (_, id) => id)
    const leaders = ids.map(id => ({
      leader: 1,
      get partitionId() {
        looks++
        return id
      },
    }))
    find(leaders, ids)
    expect(looks).toBe(100)
  })
})
