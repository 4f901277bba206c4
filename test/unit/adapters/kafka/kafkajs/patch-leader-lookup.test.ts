import { describe, expect, it } from '@jest/globals'
import { patchLeaderLookup } from '../../../../../src/adapters/kafka/kafkajs/patch-leader-lookup.ts'
import { type Cluster, type ConsumerGroup, internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

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
])('the broker that each partition is %s', (_to, find, original) => {
  it.each<{ name: string; leaders: Leaders; partitions: (number | string)[] }>([
    { name: 'no partitions', leaders: [], partitions: [] },
    { name: 'one leader', leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: 1 })), partitions: [2, 0, 1] },
    {
      name: 'three leaders',
      leaders: [2, 0, 3, 1].map(partitionId => ({ partitionId, leader: partitionId % 3 })),
      partitions: [0, 1, 2, 3],
    },
    {
      name: 'partitions as strings',
      leaders: [0, 1].map(partitionId => ({ partitionId, leader: partitionId })),
      partitions: ['1', '0'],
    },
    {
      name: 'a part of the partitions',
      leaders: [0, 1, 2].map(partitionId => ({ partitionId, leader: partitionId })),
      partitions: [1],
    },
    { name: 'an unknown partition', leaders: [{ partitionId: 0, leader: 4 }], partitions: [0, 7] },
  ])('is the same as with kafkajs: $name', ({ leaders, partitions }) => {
    expect(find(leaders, partitions)).toEqual(original(leaders, partitions))
  })

  it('fails as with kafkajs when a partition has no leader field', () => {
    expect(() => find([{ partitionId: 0, leader: null }], [0])).toThrow('Invalid partition metadata')
  })

  it('is found with one look-up for each partition', () => {
    let lookUps = 0
    const ids = Array.from({ length: 100 }, (_, id) => id)
    const leaders = ids.map(id => ({
      leader: 1,
      get partitionId() {
        lookUps++
        return id
      },
    }))
    find(leaders, ids)
    expect(lookUps).toBe(100)
  })
})

describe('a partition without a leader', () => {
  const leaders = [
    { partitionId: 0, leader: -1 },
    { partitionId: 1, leader: 4 },
  ]

  it('rejects requests for it', () => {
    const find = (partitions: readonly number[]) => clusterWith(leaders).findLeaderForPartitions('t', partitions)
    expect(() => find([0, 1])).toThrow(expect.objectContaining({ type: 'LEADER_NOT_AVAILABLE' }))
    expect(find([1])).toEqual({ 4: [1] })
  })

  it('does not prevent fetches of the others', () => {
    expect(groupWith(leaders).findReadReplicaForPartitions('t', [0, 1])).toMatchObject({ 4: [1] })
  })
})
