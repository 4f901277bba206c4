import { expect, it } from '@jest/globals'
import { createEndOffsetCheck } from '../../../../src/services/partitions/read-end-offsets-for-lag.ts'
import { partition } from '../../../support/kafka/scripted-consumer.ts'
import { setUp, upTo } from './processor-fixture.ts'

/** A partition with the records 0 to 2. `ends` returns the end offsets of its topic. */
function checked(ends: () => Promise<readonly number[]>) {
  const { partitions, processor, clock, consumer } = setUp({ offsets: upTo(3) })
  const asked: string[] = []
  const readEndOffsets = (topic: string): Promise<readonly number[]> => {
    asked.push(topic)
    return ends()
  }
  const check = createEndOffsetCheck({ clock, processors: partitions.processors, readEndOffsets })
  check.start()
  const settle = (): Promise<void> => new Promise(setImmediate)
  return {
    check,
    asked,
    consumer,
    advance: (ms: number) => clock.advance(ms, settle),
    end: () => processor()?.highWatermark,
  }
}
const seven = async (): Promise<readonly number[]> => Object.assign([], { [partition.partition]: 7 })

it('the end offset of a new partition is read within 5 s, and then every 30 s', async () => {
  const { asked, advance, end } = checked(seven)
  await advance(5_000)
  expect(end()).toBe(7)
  await advance(29_999)
  expect(asked).toEqual([partition.topic])
  await advance(1)
  expect(asked).toHaveLength(2)
})

it('the end offset of a fetched batch is newer than a read', async () => {
  const { asked, consumer, advance, end } = checked(seven)
  consumer.fetch({ count: 3 })
  await advance(29_999)
  expect(end()).toBe(3)
  await advance(5_000)
  expect([end(), asked.length]).toEqual([7, 1])
})

it('a failed read is repeated after 30 s, and a stopped check reads nothing', async () => {
  let fails = true
  const { check, asked, advance, end } = checked(() => (fails ? Promise.reject(new Error('no broker')) : seven()))
  await advance(5_000)
  fails = false
  await advance(29_999)
  expect(end()).toBe(0)
  await advance(1)
  expect(end()).toBe(7)
  check.stop()
  await advance(60_000)
  expect(asked).toHaveLength(2)
})
