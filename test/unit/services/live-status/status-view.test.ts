import { beforeEach, expect, it } from '@jest/globals'
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

it('logs why it cannot read the topic, and the process goes on', async () => {
  const view = viewOf({ start: async () => Promise.reject(new Error('not authorised')), stop: async () => {} })
  view.start()
  await new Promise(resolve => setImmediate(resolve))
  expect(view.isCurrent()).toBe(false)
  expect(logger.lines).toMatchObject([
    { level: 'error', fields: { topic: 'hookline.status', error: 'not authorised' } },
  ])
  await view.stop()
})
