import { expect, it } from '@jest/globals'
import { decodeJob, jobKeyOf } from '../../../../src/core/jobs/job.ts'
import { resendJob } from '../../../support/jobs/builders.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { memoryJobs, topics } from '../../../support/operator/memory-jobs.ts'
import { answered } from '../../../support/operator/memory-objects.ts'

it.each([
  ['a tombstone', null],
  ['a value that cannot be decoded', Buffer.from('x')],
])('writes a copy of a job after another program has written %s with its key', async (_, value) => {
  const clock = new ManualClock()
  const { store, log } = await memoryJobs(clock)
  const job = resendJob('r')
  await answered(log, store.create(job))
  log.write(topics.jobs, value, jobKeyOf(job))
  const poll = async (): Promise<void> => void log.poll()
  await poll()
  await clock.advance(5_000, poll)
  const written = log.records(topics.jobs).map(record => decodeJob(String(record.value)))
  expect(written).toEqual([job, undefined, { ...job, copy: 1 }])
  await clock.advance(60_000, poll)
  expect(log.records(topics.jobs)).toHaveLength(3)
})
