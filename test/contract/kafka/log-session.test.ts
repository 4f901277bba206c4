import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createLogSessions } from '../../../src/adapters/kafka/log/log-sessions.ts'
import type { LogSession } from '../../../src/core/log-session.ts'
import { epochMs } from '../../../src/core/time.ts'
import {
  afterwards,
  appendAll,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  producer,
  uniqueName,
} from './test-clients-and-topics.ts'

function newSessions() {
  const client = kafka()
  const count = { opened: 0 }
  const consumer: typeof client.consumer = config => client.consumer(config, () => count.opened++)
  const sessions = createLogSessions({ kafka: { ...client, consumer }, clock: processClock })
  afterwards(() => sessions.close())
  return { ...sessions, count }
}
const session = <T>(use: (session: LogSession) => Promise<T>): Promise<T> => newSessions().use(use)

async function topicWith(...counts: readonly number[]): Promise<string> {
  const topic = await newTopic({ partitions: counts.length })
  const records = counts.flatMap((count, partition) => numbered(count).map(record => ({ ...record, partition })))
  await appendAll(producer(), topic, records)
  return topic
}

describe('a session', () => {
  it('knows the offsets of all partitions', async () => {
    const topic = await topicWith(3, 0, 5)
    const [ranges, since, later] = await session(async opened => [
      await opened.ranges(topic),
      await opened.offsetsSince(topic, epochMs(-5)),
      await opened.offsetsSince(topic, epochMs(Date.now() + 3_600_000)),
    ])
    expect(ranges).toEqual([3, 0, 5].map(end => ({ beginning: 0, end })))
    expect(since).toEqual([0, 0, 0])
    expect(later).toEqual([3, 0, 5])
  })

  it('reads exactly a part of a partition, in order', async () => {
    const topic = await topicWith(300, 7)
    const values: string[] = []
    await session(opened =>
      opened.read({ topic, partition: 0 }, 120, 180, ({ offset, partition, value }) =>
        values.push(`${partition}/${offset}/${value}`),
      ),
    )
    expect(values).toEqual(Array.from({ length: 60 }, (_, index) => `0/${120 + index}/${120 + index}`))
  })

  it('finds the first record that was appended at a time', async () => {
    const topic = await topicWith(2)
    const at: number[] = []
    await session(opened => opened.read({ topic, partition: 0 }, 0, 2, ({ timestamp }) => at.push(timestamp)))
    expect(await session(opened => opened.offsetsSince(topic, epochMs(at[0] as number)))).toEqual([0])
  })

  it('skips records that retention has removed', async () => {
    const topic = await topicWith(10)
    const admin = await plainAdmin()
    await admin.fetchTopicMetadata({ topics: [topic] })
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '4' }] })
    const { ranges, offsets } = await session(async opened => {
      const found = await opened.ranges(topic)
      const offsets: number[] = []
      await opened.read({ topic, partition: 0 }, found[0]?.beginning ?? 0, 10, ({ offset }) => offsets.push(offset))
      return { ranges: found, offsets }
    })
    expect(ranges).toEqual([{ beginning: 4, end: 10 }])
    expect(offsets).toEqual([4, 5, 6, 7, 8, 9])
  })

  it('knows what a group has committed, with its metadata', async () => {
    const topic = await topicWith(3, 3)
    const groupId = uniqueName()
    const admin = await plainAdmin()
    await admin.setOffsets({ groupId, topic, partitions: [{ partition: 1, offset: '2' }] })
    expect(await session(opened => opened.commits(groupId, topic))).toEqual([
      { offset: -1, metadata: '' },
      { offset: 2, metadata: expect.any(String) },
    ])
  })

  it('fails with TOPIC_MISSING when the topic does not exist', async () => {
    await expect(session(opened => opened.ranges(uniqueName()))).rejects.toMatchObject({ code: 'TOPIC_MISSING' })
  })
})

describe('consecutive sessions', () => {
  it('use the same connection, until it is closed', async () => {
    const topic = await topicWith(1)
    const { use, close, count } = newSessions()
    for (let times = 0; times < 3; times++) await use(opened => opened.ranges(topic))
    await Promise.all([use(opened => opened.ranges(topic)), use(opened => opened.ranges(topic))])
    expect(count.opened).toBe(1)
    await close()
    expect(await use(opened => opened.ranges(topic))).toEqual([{ beginning: 0, end: 1 }])
    expect(count.opened).toBe(2)
  })

  it('repeat a read over a new connection when the connection of the previous session fails', async () => {
    const topic = await topicWith(1)
    const { use, count } = newSessions()
    await use(opened => opened.ranges(topic))
    let isBroken = true
    const read = use(opened => opened.ranges(isBroken ? uniqueName() : topic))
    isBroken = false
    expect(await read).toEqual([{ beginning: 0, end: 1 }])
    expect(count.opened).toBe(2)
  })

  it('fail when a new connection fails too, and the next session opens another one', async () => {
    const topic = await topicWith(1)
    const { use, count } = newSessions()
    const missing = uniqueName()
    for (let times = 0; times < 2; times++)
      await expect(use(opened => opened.ranges(missing))).rejects.toMatchObject({ code: 'TOPIC_MISSING' })
    expect(count.opened).toBe(2)
    expect(await use(opened => opened.ranges(topic))).toEqual([{ beginning: 0, end: 1 }])
    expect(count.opened).toBe(3)
  })

  // kafkajs has one connection for fetches, and one for other requests.
  it('open two connections, although their first requests are concurrent', async () => {
    const counts = Array.from({ length: 12 }, () => 5)
    const topic = await topicWith(...counts)
    const { use, count } = newSessions()
    const groupId = uniqueName()
    const read = (): Promise<unknown> =>
      use(opened =>
        Promise.all([
          ...counts.map((to, partition) => opened.read({ topic, partition }, 0, to, () => undefined)),
          ...counts.map(() => opened.commits(groupId, topic)),
        ]),
      )
    await Promise.all([read(), read()])
    expect(count.opened).toBe(2)
  })
})
