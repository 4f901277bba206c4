import { expect, it } from '@jest/globals'
import type { Job } from '../../../../src/core/jobs/job.ts'
import { cancelOf } from '../../../../src/core/jobs/job-steps.ts'
import type { LogProducer } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import type { JobStore } from '../../../../src/services/jobs/job-store.ts'
import { OwnedJob } from '../../../../src/services/jobs/owned-job.ts'
import { resendJob, running } from '../../../support/jobs/builders.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

/** Creates a running job whose records are only in memory. `job` returns its last record. */
function createOwned() {
  let job: Job = running(resendJob('r'))
  const store: Pick<JobStore, 'get' | 'write'> = {
    get: () => job,
    async write(known, nextRecord) {
      job = nextRecord(known, 'w')
      return { kind: 'applied', job }
    },
  }
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const deps = { store: store as JobStore, producer: {} as LogProducer, clock, logger, owner: 'one' }
  return { store, clock, logger, owned: new OwnedJob(job, 0, deps), job: () => job }
}

it.each([
  ['done', {}, undefined],
  ['failed', { error: 'destination crm is disabled' }, 'destination crm is disabled'],
])('a job that ends as %s does not keep the error of an earlier try', async (state, outcome, error) => {
  const { owned, job } = createOwned()
  owned.advance({ error: 'registry is down' })
  await owned.checkpoint()
  expect(job()).toMatchObject({ state: 'running', error: 'registry is down' })
  await owned.end(outcome)
  expect(job()).toMatchObject({ state, error })
})

it.each([
  ['cancelled', undefined],
  ['done', {}],
  ['failed', { error: 'destination crm is disabled' }],
])('a job with a request to cancel that ends as %s keeps the request', async (state, outcome) => {
  const { store, owned, job } = createOwned()
  await store.write(job(), cancelOf(job(), epochMs(7))!)
  await owned.end(outcome)
  expect(job()).toMatchObject({ state, isCancelRequested: true })
})

it('a cancelled job whose last record cannot be written does not delay the end of the process', async () => {
  const { store, owned, job } = createOwned()
  await store.write(job(), cancelOf(job(), epochMs(7))!)
  owned.noteChange()
  store.write = async () => ({ kind: 'failed', detail: 'Kafka is down' })
  owned.stop('stopping')
  expect(await owned.end(undefined)).toBeUndefined()
})

it('logs why a write of the record of a job failed, once for several failures in succession', async () => {
  const { store, clock, logger } = createOwned()
  const { write } = store
  const settle = () => new Promise<void>(setImmediate)
  for (const detail of ['Kafka is down', 'Kafka is down again']) {
    store.write = async () => ({ kind: 'failed', detail })
    await clock.advance(3_000, settle)
    store.write = write
    await clock.advance(2_000, settle)
  }
  expect(logger.lines).toMatchObject([
    { level: 'warn', fields: { kind: 'resend', id: 'r', error: 'Kafka is down' } },
    { level: 'warn', fields: { kind: 'resend', id: 'r', error: 'Kafka is down again' } },
  ])
})
