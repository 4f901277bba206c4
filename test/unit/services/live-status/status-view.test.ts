import { beforeEach, expect, it, jest } from '@jest/globals'
import type { LogRecord, TopicFollower } from '../../../../src/core/ports.ts'
import { createStatusView } from '../../../../src/services/live-status/status-view.ts'
import { recordOf } from '../../../support/builders.ts'
import { MemoryFollower } from '../../../support/kafka/memory-follower.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

let clock: ManualClock
let records: LogRecord[]
let logger: RecordingLogger
let follower: MemoryFollower
beforeEach(() => {
  clock = new ManualClock()
  records = []
  logger = new RecordingLogger()
  follower = new MemoryFollower(
    () => records,
    () => clock.boottime(),
  )
})

const viewOf = (of: TopicFollower) => createStatusView({ follower: of, topic: 'hookline.status', clock, logger })
const write = (key: string | null, value: string | null): void => {
  const [keyBytes, bytes] = [key, value].map(text => (text === null ? null : Buffer.from(text)))
  records.push(recordOf({ key: keyBytes!, value: bytes!, offset: records.length, timestamp: clock.now() }))
}

it('reads the topic in the background, and is current while it reads to the end', async () => {
  write('process/pod-1', '{"services":["dispatcher"]}')
  write(null, 'of another program')
  write('process/pod-2', null)
  const view = viewOf(follower)
  expect(view.isCurrent()).toBe(false)
  view.start()
  expect(view.isCurrent()).toBe(true)
  expect(view.sums.processes(clock.now())).toMatchObject([{ instance: 'pod-1', services: ['dispatcher'] }])
  follower.isCutOff = true
  await clock.advance(10_001)
  follower.poll()
  expect(view.isCurrent()).toBe(false)
  follower.isCutOff = false
  follower.poll()
  expect(view.isCurrent()).toBe(true)
})

it('ignores a process that does not write, until it writes again', async () => {
  const view = viewOf(follower)
  view.start()
  write('process/pod-1', '{}')
  write('activity/pod-1/3', '{"crm":{"breaker":"open"}}')
  follower.poll()
  expect(view.sums.openBreakers(clock.now())).toEqual(['crm'])
  await clock.advance(31_000)
  follower.poll()
  expect(view.sums.openBreakers(clock.now())).toEqual([])
  write('process/pod-1', '{}')
  follower.poll()
  expect(view.sums.openBreakers(clock.now())).toEqual(['crm'])
})

it('tries again until it can read the topic, and logs only the first failure', async () => {
  let failures = 2
  const start: TopicFollower['start'] = async handlers => {
    if (failures-- > 0) throw new Error('no broker')
    return follower.start(handlers)
  }
  const view = viewOf({ start, stop: () => follower.stop() })
  view.start()
  await clock.advance(19_999, () => new Promise(setImmediate))
  expect(view.isCurrent()).toBe(false)
  await clock.advance(1)
  expect(view.isCurrent()).toBe(true)
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { topic: 'hookline.status', error: 'no broker' } }])
})

it('does not try again after it was stopped', async () => {
  const start = jest.fn(async () => Promise.reject(new Error('no broker')))
  const view = viewOf({ start, stop: async () => {} })
  view.start()
  await view.stop()
  await clock.advance(60_000, () => new Promise(setImmediate))
  expect(start).toHaveBeenCalledTimes(1)
  expect(logger.lines).toEqual([])
})
