import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal, type Metadata } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

beforeAll(() => {
  loadKafkajs()
})
afterEach(() => {
  jest.restoreAllMocks()
})

const leaderNotAvailable = 5
const unknownTopic = 3
type Topic = Metadata['topicMetadata'][number]

const topic = (name: string, leaders: readonly number[]): Topic => ({
  topic: name,
  topicErrorCode: 0,
  partitionMetadata: leaders.map((leader, partitionId) => ({
    ...{ leader, partitionId },
    partitionErrorCode: leader < 0 ? leaderNotAvailable : 0,
  })),
})
const missing = (name: string): Topic => ({ topic: name, topicErrorCode: unknownTopic, partitionMetadata: [] })

describe('the metadata of several topics', () => {
  const parse = (version: number, topicMetadata: readonly Topic[]): Promise<Metadata> => {
    const file = `protocol/requests/metadata/v${version}/response`
    return internal<{ parse(data: Metadata): Promise<Metadata> }>(file).parse({ topicMetadata })
  }

  it.each([0, 1, 2, 3, 4, 5, 6])('is used although one does not exist, in version %i', async version => {
    const { topicMetadata } = await parse(version, [missing('a'), topic('b', [1, -1])])
    expect(topicMetadata).toEqual([missing('a'), topic('b', [1, -1])])
  })

  it.each([
    { name: 'the only topic is missing', topics: [missing('a')], type: 'UNKNOWN_TOPIC_OR_PARTITION' },
    { name: 'no partition has a leader', topics: [topic('a', [-1, -1])], type: 'LEADER_NOT_AVAILABLE' },
    { name: 'both', topics: [topic('b', [-1]), missing('a')], type: 'UNKNOWN_TOPIC_OR_PARTITION' },
  ])('is rejected if $name', async ({ topics, type }) => {
    await expect(parse(6, topics)).rejects.toMatchObject({ type })
  })
})

interface Pool {
  metadata: Metadata | null
  metadataExpireAt: number | null
}
const pool = (metadata: Metadata | null): Pool =>
  Object.assign(Object.create(internal<{ prototype: Pool }>('cluster/brokerPool').prototype) as Pool, { metadata })

describe('the partitions of a topic with an error', () => {
  const failed = (code: number): Topic => ({ topic: 'a', topicErrorCode: code, partitionMetadata: [] })
  const refreshed = (...results: readonly Topic[]): Topic | undefined => {
    const it = pool(null)
    for (const result of results) it.metadata = { topicMetadata: [topic('b', [3]), result] }
    return it.metadata?.topicMetadata[1]
  }
  const known = topic('a', [1, 2])

  it('are the last known ones, with the error', () => {
    const kept = { ...known, topicErrorCode: leaderNotAvailable }
    expect(refreshed(known, failed(leaderNotAvailable))).toEqual(kept)
    expect(refreshed(known, failed(leaderNotAvailable), failed(leaderNotAvailable))).toEqual(kept)
  })

  it('are none if none are known, or the topic does not exist', () => {
    expect(refreshed(failed(leaderNotAvailable))).toEqual(failed(leaderNotAvailable))
    expect(refreshed(known, failed(unknownTopic))).toEqual(failed(unknownTopic))
    expect(refreshed(known, failed(unknownTopic), failed(leaderNotAvailable))).toEqual(failed(leaderNotAvailable))
  })

  it('are those of the new metadata when the error has ended', () => {
    expect(refreshed(known, failed(leaderNotAvailable), topic('a', [4]))).toEqual(topic('a', [4]))
  })
})

describe('the age of metadata', () => {
  it.each([
    { name: 'complete', topics: [topic('a', [1])], maxAge: 30_000 },
    { name: 'without a leader', topics: [topic('a', [1, -1])], maxAge: 1_000 },
    { name: 'without a topic', topics: [topic('a', [1]), missing('b')], maxAge: 1_000 },
  ])('is limited to $maxAge ms, also if the clock is set back: $name', ({ topics, maxAge }) => {
    const it = pool({ topicMetadata: topics })
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now)
    jest.spyOn(performance, 'now').mockImplementation(() => 5_000)
    it.metadataExpireAt = now + 30_000
    expect(it.metadataExpireAt).toBe(now + maxAge)
    jest.spyOn(Date, 'now').mockImplementation(() => now - 3_600_000)
    expect(it.metadataExpireAt).toBe(now - 3_600_000 + maxAge)
  })

  it('is unknown without metadata', () => {
    const it = pool(null)
    expect(it.metadataExpireAt).toBeNull()
    it.metadataExpireAt = Date.now()
    it.metadataExpireAt = null
    expect(it.metadataExpireAt).toBeNull()
  })
})
