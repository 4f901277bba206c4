import { describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import {
  fetchWithoutHooks,
  type GroupHooks,
  setGroupHooks,
} from '../../../../../src/adapters/kafka/kafkajs/patch-consumer-group.ts'
import { unreadablePartitionsIn } from '../../../../../src/adapters/kafka/kafkajs/patch-fetch-errors.ts'
import { type Cluster, type ConsumerGroup, internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { durationMs } from '../../../../../src/core/time.ts'

loadKafkajs()

/** The error that kafkajs throws for these error codes of the partitions 0, 1, …. */
async function errorOf(...codes: readonly number[]): Promise<Error> {
  const { parse } = internal<{ parse: (response: object) => Promise<unknown> }>('protocol/requests/fetch/v11/response')
  const partitions = codes.map((errorCode, partition) => ({ partition, errorCode }))
  try {
    await parse({ errorCode: 0, responses: [{ topicName: 't', partitions }] })
  } catch (error) {
    return error as Error
  }
  throw new Error('the response has no error')
}

describe('the error of a fetch', () => {
  it('names all partitions that the broker cannot read', async () => {
    const { type, error } = await errorOf(0, -1, 2, 0, 56).then(error => ({ ...error, error }) as never)
    expect(type).toBe('UNKNOWN')
    expect(unreadablePartitionsIn(error)).toEqual([
      { topic: 't', partition: 1, code: 'UNKNOWN' },
      { topic: 't', partition: 2, code: 'CORRUPT_MESSAGE' },
      { topic: 't', partition: 4, code: 'KAFKA_STORAGE_ERROR' },
    ])
  })

  it.each([
    { name: 'NOT_LEADER_FOR_PARTITION', codes: [0, 6, -1] },
    { name: 'TOPIC_AUTHORIZATION_FAILED', codes: [29] },
  ])('names none when kafkajs throws $name', async ({ name, codes }) => {
    const error = await errorOf(...codes)
    expect(error).toMatchObject({ type: name })
    expect(unreadablePartitionsIn(error)).toEqual([])
  })

  it('does not reach kafkajs, so that the consumer continues with the other partitions', async () => {
    const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
    const unreadable: unknown[] = []
    const error = await errorOf(-1)
    const cluster = {
      refreshMetadataIfNecessary: () => Promise.reject(error),
    } as unknown as Cluster
    const group = Object.assign(Object.create(prototype) as ConsumerGroup, { cluster })
    await expect(fetchWithoutHooks(group, '1')).rejects.toBe(error)
    const hooks: Partial<GroupHooks> = {
      maxWait: () => durationMs(1),
      unreadable: (_, partitions) => void unreadable.push(...partitions),
    }
    setGroupHooks(cluster, hooks as GroupHooks)
    expect(await fetchWithoutHooks(group, '1')).toEqual([])
    expect(unreadable).toEqual([{ topic: 't', partition: 0, code: 'UNKNOWN' }])
  })
})
