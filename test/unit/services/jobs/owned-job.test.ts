import { describe, expect, it } from '@jest/globals'
import type { Job, ReplayJob } from '../../../../src/core/jobs/job.ts'
import { cancelOf } from '../../../../src/core/jobs/job-transitions.ts'
import type { LogProducer } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import type { JobStore } from '../../../../src/services/jobs/job-store.ts'
import { OwnedJob } from '../../../../src/services/jobs/owned-job.ts'
import { replayJob, resendJob, running } from '../../../support/jobs/builders.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

function createOwned(first: Job = running(resendJob('r'))) {
  let job = first
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

describe('a job whose counts are too large for the jobs topic', () => {
  /** Refuses records with counts. */
  function createLimited() {
    const { store, owned, ...others } = createOwned(running(replayJob('r')))
    const { write } = store
    store.write = async (known, nextRecord) => {
      const { counts } = nextRecord(known, 'w') as ReplayJob
      if (counts !== undefined) return { kind: 'failed', detail: 'record too large', isTooLarge: true }
      return write(known, nextRecord)
    }
    owned.advance({ counts: [] })
    return { store, owned, ...others }
  }
  const settle = () => new Promise<void>(setImmediate)
  const error =
    'the job finished its work, but its field "counts" (numbers of dead letters by destination and reason) is missing, because the record of the job was too large for the jobs topic: record too large'

  it.each([
    ['fails without the counts', {}, error],
    ['fails with the error of its work', { error: 'a bug' }, 'a bug'],
  ])('%s', async (_, outcome, text) => {
    const { clock, owned, job } = createLimited()
    const ended = owned.end(outcome)
    await clock.advance(1_000, settle)
    expect(await ended).toBe(job())
    expect(job()).toMatchObject({ state: 'failed', error: text, counts: undefined })
  })

  it('fails without the counts, if an earlier record was too large too', async () => {
    const { clock, owned, job } = createLimited()
    await clock.advance(2_000, settle)
    await owned.end({})
    expect(job()).toMatchObject({ state: 'failed', error, counts: undefined })
  })

  it('can be cancelled', async () => {
    const { store, clock, owned, job } = createLimited()
    await store.write(job(), cancelOf(job(), epochMs(7))!)
    const ended = owned.end(undefined)
    await clock.advance(1_000, settle)
    expect(await ended).toMatchObject({ state: 'cancelled', counts: undefined })
  })
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
