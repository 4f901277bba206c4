import { expect, it } from '@jest/globals'
import { createJobStore } from '../../../../src/services/jobs/job-store.ts'
import { recordOf } from '../../../support/builders.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ScriptedFollower } from '../../../support/kafka/scripted-follower.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

it('a batch of the jobs topic that cannot be read is logged with what may be missing', async () => {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const follower = new ScriptedFollower()
  const topic = 'hookline.jobs'
  const store = createJobStore({ follower, producer: new MemoryLog(clock).producer(), topic, clock, logger })
  await store.start()
  const unreadBatch = { firstOffset: 3, length: 9, bytes: Buffer.of(1), why: 'the checksum is wrong' }
  follower.deliver(recordOf({ topic, partition: 0, offset: 5, key: null, value: null, unreadBatch }))
  expect(store.all()).toEqual([])
  expect(logger.lines).toMatchObject([
    {
      level: 'error',
      fields: { topic, partition: 0, firstOffset: 3, offset: 5, detail: 'the checksum is wrong' },
      line: expect.stringContaining('create it again'),
    },
  ])
})
