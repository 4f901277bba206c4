import { expect, it } from '@jest/globals'
import type { Job } from '../../../../src/core/jobs/job.ts'
import type { LogProducer } from '../../../../src/core/ports.ts'
import type { JobStore } from '../../../../src/services/jobs/job-store.ts'
import { OwnedJob } from '../../../../src/services/jobs/owned-job.ts'
import { resendJob, running } from '../../../support/jobs/builders.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

it.each([
  ['done', {}, undefined],
  ['failed', { error: 'destination crm is disabled' }, 'destination crm is disabled'],
])('a job that ends as %s does not keep the error of an earlier try', async (state, outcome, error) => {
  let job: Job = running(resendJob('r'))
  const store: Pick<JobStore, 'get' | 'write'> = {
    get: () => job,
    async write(known, nextRecord) {
      job = nextRecord(known, 'w')
      return { kind: 'applied', job }
    },
  }
  const deps = { store: store as JobStore, producer: {} as LogProducer, clock: new ManualClock(), owner: 'one' }
  const owned = new OwnedJob(job, 0, deps)
  owned.advance({ error: 'registry is down' })
  await owned.checkpoint()
  expect(job).toMatchObject({ state: 'running', error: 'registry is down' })
  await owned.end(outcome)
  expect(job).toMatchObject({ state, error })
})
