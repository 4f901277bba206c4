import { describe, expect, it } from '@jest/globals'
import {
  append,
  appendAll,
  committed,
  consumer,
  newTopic,
  numbered,
  plainAdmin,
  producer,
  Recorder,
  uniqueName,
} from './test-clients-and-topics.ts'

describe('a consumed record equals the produced one', () => {
  it.each([
    { name: 'key and value', record: { key: Buffer.from('k'), value: Buffer.from('v'), headers: {} } },
    { name: 'null key', record: { key: null, value: Buffer.from('v'), headers: {} } },
    { name: 'null value', record: { key: Buffer.from('k'), value: null, headers: {} } },
    { name: 'empty key and value', record: { key: Buffer.alloc(0), value: Buffer.alloc(0), headers: {} } },
    { name: 'bytes', record: { key: Buffer.from([0, 255]), value: Buffer.from([128, 0, 10]), headers: {} } },
    {
      name: 'headers',
      record: { key: null, value: Buffer.from('v'), headers: { attempt: '3', ünï: 'cödé ✓', empty: '' } },
    },
  ])('$name', async ({ record }) => {
    const topic = await newTopic()
    await append(producer(), topic, record)
    const recorder = new Recorder()
    await consumer([topic]).start(recorder)
    await recorder.until(() => recorder.records.length === 1)
    expect(recorder.records[0]).toEqual({ ...record, topic, partition: 0, offset: 0, timestamp: expect.any(Number) })
    expect(Math.abs(Date.now() - (recorder.records[0]?.timestamp as number))).toBeLessThan(60_000)
  })
})

describe('the next process continues at the committed offset', () => {
  it('and the first one at the beginning', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const to = producer()
    await appendAll(to, topic, numbered(3))
    const first = new Recorder()
    const one = consumer([topic], { groupId })
    await one.start(first)
    await first.until(() => first.records.length === 3)
    await one.stop()
    expect(first.values).toEqual(['0', '1', '2'])
    expect(await committed(await plainAdmin(), groupId, topic)).toEqual([3])

    await appendAll(to, topic, numbered(2, 3))
    const second = new Recorder()
    await consumer([topic], { groupId }).start(second)
    await second.until(() => second.records.length === 2)
    expect(second.events).toEqual(['assigned 0@3'])
    expect(second.values).toEqual(['3', '4'])
  })

  it('and gets only unfinished records again, according to the metadata of the commit', async () => {
    const topic = await newTopic()
    const groupId = uniqueName()
    const to = producer()
    await appendAll(to, topic, numbered(5))
    const first = new Recorder()
    first.isDone = ({ offset }) => offset !== 2
    const one = consumer([topic], { groupId })
    await one.start(first)
    await first.until(() => first.records.length === 5)
    await one.stop()
    expect(await committed(await plainAdmin(), groupId, topic)).toEqual([2])

    await appendAll(to, topic, numbered(1, 5))
    const second = new Recorder()
    await consumer([topic], { groupId }).start(second)
    await second.until(() => second.values.includes('5'))
    expect(second.values).toEqual(['2', '5'])
  })
})
