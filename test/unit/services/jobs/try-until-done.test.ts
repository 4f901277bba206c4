import { describe, expect, it } from '@jest/globals'
import { type JobOutcome, tryUntilDone } from '../../../../src/services/jobs/try-until-done.ts'
import { createMemoryOwnedJob } from '../../../support/jobs/memory-owned-job.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

const failure = (fields: object): Error => Object.assign(new Error('down'), fields)
const unreachable = failure({ code: 'ECONNREFUSED', retriable: true })
/** `run` gets the number of the try, from 1 on. */
function startWork(run: (work: { tries: number; progress: number }) => Promise<JobOutcome>) {
  const clock = new ManualClock()
  const job = createMemoryOwnedJob({ append() {} })
  const work = { tries: 0, progress: 0 }
  const startedAt: number[] = []
  const outcome = tryUntilDone(
    {
      async run() {
        work.tries++
        startedAt.push(clock.monotonic() / 1_000)
        return run(work)
      },
      progress: () => work.progress,
    },
    job.owned,
    clock,
  )
  return { ...job, clock, outcome, startedAt }
}

describe('tries again, however long it takes, after an error of', () => {
  it.each([
    ['Kafka', { code: 'ECONNREFUSED', retriable: true }],
    ['Kafka until an operator corrects it', { code: 'TOPIC_MISSING', retriable: false }],
    ['the Kafka client, without a code', { retriable: false }],
    ['the schema registry', { code: 'registry_unavailable' }],
  ])('%s', async (_, fields) => {
    let isDown = true
    const { clock, outcome, changed } = startWork(async () => {
      if (isDown) throw failure(fields)
      return {}
    })
    await clock.advance(24 * 3_600_000, turns)
    expect(changed()).toEqual({ error: 'down' })
    isDown = false
    await clock.advance(60_000, turns)
    expect(await outcome).toEqual({})
  })
})

it('doubles the wait after each try without progress, up to a minute', async () => {
  const { clock, outcome, startedAt } = startWork(async work => {
    if (work.tries === 8) work.progress++
    if (work.tries < 10) throw unreachable
    return {}
  })
  await clock.advance(600_000, turns)
  expect(await outcome).toEqual({})
  expect(startedAt).toEqual([0, 5, 15, 35, 75, 135, 195, 255, 260, 270])
})

it('throws the error of a bug', async () => {
  const { outcome } = startWork(async () => {
    throw new TypeError('a bug')
  })
  await expect(outcome).rejects.toThrow(TypeError)
})

describe('a job that must stop', () => {
  it('ends its wait immediately', async () => {
    const { outcome, stop, clock, startedAt } = startWork(async () => {
      throw unreachable
    })
    await turns()
    stop('cancelled')
    expect(await outcome).toBeUndefined()
    expect(startedAt).toEqual([0])
    expect(clock.timers).toBe(0)
  })

  it('does not try again after a try that failed because of the stop', async () => {
    const { promise, reject } = Promise.withResolvers<JobOutcome>()
    const { outcome, stop, changed } = startWork(() => promise)
    stop('stopping')
    reject(unreachable)
    expect(await outcome).toBeUndefined()
    expect(changed()).toEqual({})
  })
})
