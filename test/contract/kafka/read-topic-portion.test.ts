import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { LogRecord, Portion } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { appendAll, kafka, newTopic, plainAdmin, producer } from './test-clients-and-topics.ts'

const reader = createReader({ kafka: kafka(), clock: processClock, logger: silent })

describe('a portion of a topic', () => {
  const key = Buffer.from('["d-1"]')
  async function offsets(topic: string, portion: Portion, most = 100): Promise<readonly string[]> {
    const seen: string[] = []
    const onRecord = ({ partition, offset }: LogRecord) => void seen.push(`${partition}/${offset}`)
    const mustStop = () => seen.length >= most
    expect(await reader.readToEnd(topic, onRecord, { ...portion, mustStop })).toBe(seen.length)
    return seen
  }

  it('is limited by key, by time, and by mustStop', async () => {
    const topic = await newTopic({ partitions: 3 })
    const everywhere = async () => {
      for (const partition of [0, 1, 2]) await appendAll(producer(), topic, [{ partition }, { partition }])
    }
    await everywhere()
    await new Promise(resolve => setTimeout(resolve, 50))
    const since = processClock.now()
    await new Promise(resolve => setTimeout(resolve, 50))
    await everywhere()
    const own = partitionFor(key, 3)
    const all = [0, 1, 2].flatMap(partition => [0, 1, 2, 3].map(offset => `${partition}/${offset}`))
    expect(await offsets(topic, {})).toEqual(all)
    expect(await offsets(topic, { key })).toEqual([0, 1, 2, 3].map(offset => `${own}/${offset}`))
    expect(await offsets(topic, { key, since })).toEqual([2, 3].map(offset => `${own}/${offset}`))
    expect(await offsets(topic, { since: epochMs(since + 60_000) })).toEqual([])
    expect(await offsets(topic, {}, 6)).toEqual(all.slice(0, 6))
  })

  it('ends at the given offsets, and has no partition without one', async () => {
    const topic = await newTopic({ partitions: 3 })
    for (const partition of [0, 1, 2]) await appendAll(producer(), topic, [{ partition }, { partition }])
    expect(await offsets(topic, { from: [0, 1], to: [1, 2] })).toEqual(['0/0', '1/1'])
  })

  it('reports records that are deleted before or during the read', async () => {
    const topic = await newTopic({ partitions: 2 })
    for (const partition of [0, 1]) await appendAll(producer(), topic, [{ partition }, { partition }, { partition }])
    const admin = await plainAdmin()
    await admin.fetchTopicOffsets(topic)
    const remove = (partition: number) => admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: '2' }] })
    const seen: string[] = []
    const onRecord = async ({ partition, offset }: LogRecord) => {
      seen.push(`${partition}/${offset}`)
      if (partition === 0) await remove(1)
    }
    const onRemoved = (partition: number, first: number) => void seen.push(`${partition} begins at ${first}`)
    await remove(0)
    await reader.readToEnd(topic, onRecord, { from: [1, 0], onRemoved })
    expect(seen).toEqual(['0 begins at 2', '0/2', '1 begins at 2', '1/2'])
  })
})
