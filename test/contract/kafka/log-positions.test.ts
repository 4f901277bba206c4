import { describe, expect, it } from '@jest/globals'
import { createLogPositions } from '../../../src/adapters/kafka/log/admin.ts'
import { append, kafka, newTopic, plainAdmin, producer, uniqueName } from './support.ts'

const positions = () => createLogPositions(kafka())

describe('ends', () => {
  it('are the offsets behind the last records, by partition', async () => {
    const topic = await newTopic({ partitions: 12 })
    const to = producer()
    for (const partition of [11, 11, 3]) await append(to, topic, { value: Buffer.from('x'), partition })
    expect(await positions().ends(topic)).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2])
  })

  it('of a topic that is missing say which', async () => {
    const topic = uniqueName()
    await expect(positions().ends(topic)).rejects.toMatchObject({
      code: 'TOPIC_MISSING',
      message: expect.stringContaining(topic),
    })
  })
})

describe('what a group has committed', () => {
  it('is there by partition, -1 where it has not', async () => {
    const [topic, groupId] = [await newTopic({ partitions: 3 }), uniqueName()]
    const admin = await plainAdmin()
    expect(await positions().committed(groupId, topic)).toEqual([-1, -1, -1])
    await admin.setOffsets({ groupId, topic, partitions: [{ partition: 2, offset: '7' }] })
    expect(await positions().committed(groupId, topic)).toEqual([-1, -1, 7])
  })
})

it('a cluster that is not there is told', async () => {
  const gone = createLogPositions(kafka(['127.0.0.1:1']))
  await expect(gone.ends('any')).rejects.toThrow(/positions in any cannot be read: .*ECONNREFUSED/)
})
