import { describe, expect, it } from '@jest/globals'
import { createLogPositions } from '../../../src/adapters/kafka/log/end-and-committed-offsets.ts'
import { append, kafka, newTopic, plainAdmin, producer, uniqueName } from './test-clients-and-topics.ts'

const positions = () => createLogPositions(kafka())

describe('end offsets', () => {
  it('are those after the last records, by partition', async () => {
    const topic = await newTopic({ partitions: 12 })
    const to = producer()
    for (const partition of [11, 11, 3]) await append(to, topic, { value: Buffer.from('x'), partition })
    expect(await positions().ends(topic)).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2])
  })

  it('of a missing topic fail with its name', async () => {
    const topic = uniqueName()
    await expect(positions().ends(topic)).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
      message: expect.stringContaining(topic),
    })
  })
})

describe('committed offsets', () => {
  it('are listed by partition, with -1 for none', async () => {
    const [topic, groupId] = [await newTopic({ partitions: 3 }), uniqueName()]
    const admin = await plainAdmin()
    expect(await positions().committed(groupId, topic)).toEqual([-1, -1, -1])
    await admin.setOffsets({ groupId, topic, partitions: [{ partition: 2, offset: '7' }] })
    expect(await positions().committed(groupId, topic)).toEqual([-1, -1, 7])
  })
})

it('fails with the connection error when no broker listens', async () => {
  const gone = createLogPositions(kafka(['127.0.0.1:1']))
  await expect(gone.ends('any')).rejects.toThrow(/cannot read the offsets of topic any: .*ECONNREFUSED/)
})
