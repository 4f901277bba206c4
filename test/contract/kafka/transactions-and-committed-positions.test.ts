import { describe, expect, it } from '@jest/globals'
import type { Transaction } from 'kafkajs'
import type { LostPosition } from '../../../src/adapters/kafka/group/lost-position.ts'
import {
  afterwards,
  append,
  appendAll,
  committed,
  consumer,
  eventually,
  groupAt,
  newTopic,
  numbered,
  plainAdmin,
  plainKafka,
  producer,
  Recorder,
  uniqueName,
} from './test-clients-and-topics.ts'

async function transactional(): Promise<() => Promise<Transaction>> {
  const to = plainKafka().producer({
    transactionalId: uniqueName(),
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 20 },
  })
  await to.connect()
  afterwards(() => to.disconnect())
  return () => to.transaction()
}

describe('transactions', () => {
  it('commits offsets past transaction markers, so that the lag becomes 0', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const begin = await transactional()
    for (const value of ['a', 'b']) {
      const transaction = await begin()
      await transaction.send({ topic, messages: [{ value, partition: 0 }] })
      await transaction.commit()
    }
    const recorder = new Recorder()
    const one = consumer([topic], { groupId })
    await one.start(recorder)
    await recorder.until(() => recorder.batches.at(-1)?.nextOffset === 4)
    expect(recorder.records.map(({ offset }) => offset)).toEqual([0, 2])
    await one.stop()
    expect(await committed(await plainAdmin(), groupId, topic)).toEqual([4])
  })

  it('commits the end of a log that has only aborted records', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const transaction = await (await transactional())()
    await transaction.send({ topic, messages: [{ value: 'no', partition: 0 }] })
    await transaction.abort()
    const recorder = new Recorder()
    const one = consumer([topic], { groupId })
    await one.start(recorder)
    await recorder.until(() => recorder.batches.at(-1)?.nextOffset === 2)
    expect(recorder.records).toEqual([])
    await one.stop()
    expect(await committed(await plainAdmin(), groupId, topic)).toEqual([2])
  })

  it('continues after an aborted transaction that is larger than a fetch', async () => {
    const topic = await newTopic()
    const transaction = await (await transactional())()
    const value = Buffer.alloc(500_000)
    for (let left = 5; left > 0; left--) await transaction.send({ topic, messages: [{ value, partition: 0 }] })
    await transaction.abort()
    await append(producer(), topic, { value: Buffer.from('last') })
    const recorder = new Recorder()
    await consumer([topic]).start(recorder)
    await recorder.until(() => recorder.values.includes('last'))
    expect(recorder.values).toEqual(['last'])
  })

  it('delivers no aborted records when transactions of two producers overlap', async () => {
    const topic = await newTopic()
    const [first, second] = [await (await transactional())(), await (await transactional())()]
    const send = (to: Transaction, value: string) => to.send({ topic, messages: [{ value, partition: 0 }] })
    await send(first, 'aborted')
    await send(second, 'aborted too')
    await second.abort()
    await append(producer(), topic, { value: Buffer.from('plain') })
    await first.abort()
    await append(producer(), topic, { value: Buffer.from('last') })
    const recorder = new Recorder()
    await consumer([topic]).start(recorder)
    await recorder.until(() => recorder.values.includes('last'))
    expect(recorder.values).toEqual(['plain', 'last'])
  })
})

describe('positions', () => {
  it.each([
    { name: 'below it', from: 2 },
    { name: 'above its end', from: 1_000 },
  ])('continues at the beginning of the log when the committed offset is $name', async ({ from }) => {
    const topic = await newTopic()
    const admin = await plainAdmin()
    await appendAll(producer(), topic, numbered(6))
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '4' }] })
    const groupId = await groupAt(topic, from)
    const losses: LostPosition[] = []
    const recorder = new Recorder()
    const one = consumer([topic], { groupId, onPositionLost: loss => losses.push(loss) })
    await one.start(recorder)
    await append(producer(), topic, { value: Buffer.from('new') })
    await recorder.until(() => recorder.values.includes('new'))
    expect(recorder.values).toEqual(['4', '5', 'new'])
    expect(losses).toEqual([{ topic, partition: 0, from, to: 4 }])
    await one.stop()
    expect(await committed(admin, groupId, topic)).toEqual([7])
  })

  it('reads from the beginning when kafkajs has committed -2', async () => {
    const topic = await newTopic()
    await appendAll(producer(), topic, numbered(2))
    const groupId = await groupAt(topic, -2)
    expect(await committed(await plainAdmin(), groupId, topic)).toEqual([-2])
    const recorder = new Recorder()
    await consumer([topic], { groupId, onPositionLost: loss => expect(loss).toBeUndefined() }).start(recorder)
    await recorder.until(() => recorder.records.length === 2)
    expect(recorder.events).toEqual(['assigned 0@0'])
  })

  it('commits the initial position before the first record', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const admin = await plainAdmin()
    await consumer([topic], { groupId }).start(new Recorder())
    await eventually(
      () => committed(admin, groupId, topic),
      ([offset]) => offset === 0,
    )
  })

  it('returns the metadata of a commit with the assignment', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const recorder = new Recorder()
    recorder.positions = () => [{ topic, partition: 0, offset: 0, metadata: 'seen: 5' }]
    const one = consumer([topic], { groupId })
    await one.start(recorder)
    await one.stop()
    const assigned: unknown[] = []
    const next = new Recorder()
    next.onAssigned = positions => assigned.push(...positions)
    await consumer([topic], { groupId }).start(next)
    expect(assigned).toEqual([{ topic, partition: 0, offset: 0, metadata: 'seen: 5' }])
  })

  it('never commits a lower offset', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const admin = await plainAdmin()
    let offset = 5
    const recorder = new Recorder()
    recorder.positions = () => [{ topic, partition: 0, offset, metadata: '' }]
    const one = consumer([topic], { groupId })
    await appendAll(producer(), topic, numbered(6))
    await one.start(recorder)
    await eventually(
      () => committed(admin, groupId, topic),
      ([at]) => at === 5,
    )
    offset = 3
    await one.stop()
    expect(await committed(admin, groupId, topic)).toEqual([5])
  })
})
