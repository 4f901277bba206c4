import { expect, it } from '@jest/globals'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'
import type { Job } from '../../../../src/core/jobs/job.ts'
import type { LogProducer } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { createJobRunner } from '../../../../src/services/jobs/job-runner.ts'
import type { JobStore } from '../../../../src/services/jobs/job-store.ts'
import { resendJob } from '../../../support/jobs/builders.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

function createRunner(store: Partial<JobStore>) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const unused = () => Promise.reject(new Error('no job may start'))
  const runner = createJobRunner({
    store: store as JobStore,
    producer: {} as LogProducer,
    ...{ clock, logger },
    metrics: createMetrics().metrics,
    replay: unused,
    resend: unused,
  })
  return { runner, clock, logger }
}

it('a stop while a claim is being written waits, and releases the job', async () => {
  let job: Job = resendJob('r')
  const claimWritten = Promise.withResolvers<void>()
  const store: Partial<JobStore> = {
    get: () => job,
    open: () => [job],
    sinceLastRecord: () => durationMs(0),
    listen: () => undefined,
    async write(known, nextRecord) {
      await claimWritten.promise
      job = nextRecord(known, 'w')
      return { kind: 'applied', job }
    },
  }
  const { runner, clock } = createRunner(store)
  runner.start()
  await clock.advance(500)
  const stopped = runner.stop()
  claimWritten.resolve()
  await stopped
  expect(job).toMatchObject({ state: 'waiting', version: 3 })
})

it('logs why the claim of a job failed, once for several failures in succession', async () => {
  const { runner, clock, logger } = createRunner({
    open: () => [resendJob('r')],
    sinceLastRecord: () => durationMs(0),
    listen: () => undefined,
    write: async () => ({ kind: 'failed', detail: 'the topic is not writable' }),
  })
  runner.start()
  await clock.advance(2_000, () => new Promise<void>(setImmediate))
  await runner.stop()
  expect(logger.lines).toMatchObject([
    { level: 'warn', fields: { kind: 'resend', id: 'r', error: 'the topic is not writable' } },
  ])
})
