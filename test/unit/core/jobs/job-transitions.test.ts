import { describe, expect, it } from '@jest/globals'
import { type Job, jobKeyOf, type ResendJob } from '../../../../src/core/jobs/job.ts'
import { cancelOf, claimed, nextClaim, ownershipOf, released } from '../../../../src/core/jobs/job-transitions.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { replayJob, resendJob, running } from '../../../support/jobs/builders.ts'

const first = resendJob('a', { createdAt: epochMs(1) })
const second = resendJob('b', { createdAt: epochMs(2) })
const other = resendJob('c', { createdAt: epochMs(3), destination: 'shop' })
const replay = replayJob('d', { createdAt: epochMs(4), filters: {} })

/** Running jobs of different destinations. */
const runningJobs = (count: number, given: Partial<ResendJob>, prefix = 'own') =>
  Array.from({ length: count }, (_, n) =>
    running(resendJob(`${prefix}-${n}`, { destination: `${prefix}-${n}`, ...given })),
  )
const keysOf = (jobs: readonly Job[]): string[] => jobs.map(jobKeyOf)
const four = runningJobs(4, {})
const fourDryRuns = runningJobs(4, { isDryRun: true })
const failing = runningJobs(8, { error: 'the registry is down' })
const moreFailing = runningJobs(8, { error: 'the registry is down' }, 'more')
const dryRun = resendJob('g', { createdAt: epochMs(6), isDryRun: true })

describe('the job to claim', () => {
  it.each([
    ['the first of the jobs of a destination', [second, first], 0, [], 'a'],
    ['one of another destination while the first runs', [running(first), second, other], 0, ['resend/a'], 'c'],
    ['none while the job of the destination runs', [running(first), second], 9_999, [], undefined],
    ['a running job without a record for 10 s', [running(first), second], 10_000, [], 'a'],
    ['not an own job', [running(first)], 10_000, ['resend/a'], undefined],
    ['a replay of all destinations waits for every job', [running(other), replay], 0, [], undefined],
    [
      'a job waits for an earlier replay of all destinations',
      [running(first), replay, resendJob('e', { createdAt: epochMs(5), destination: 'x' })],
      0,
      [],
      undefined,
    ],
    [
      'two replays never run concurrently',
      [running(replay), replayJob('f', { createdAt: epochMs(9), filters: { destination: 'x' } })],
      0,
      [],
      undefined,
    ],
    [
      'a dry run of a replay waits for a replay',
      [running(replay), replayJob('f', { createdAt: epochMs(9), isDryRun: true, filters: {} })],
      0,
      [],
      undefined,
    ],
    [
      'a dry run waits for no resend',
      [running(first), replayJob('f', { createdAt: epochMs(9), isDryRun: true, filters: {} })],
      0,
      [],
      'f',
    ],
    ['a resend waits for no dry run', [running(resendJob('f', { isDryRun: true })), first], 0, [], 'a'],
    ['none beyond four own jobs', [...four, other], 0, keysOf(four), undefined],
    ['a dry run beside four own jobs', [...four, other, dryRun], 0, keysOf(four), 'g'],
    ['a job beside four own dry runs', [...fourDryRuns, other], 0, keysOf(fourDryRuns), 'c'],
    ['none beyond four own dry runs', [...fourDryRuns, dryRun], 0, keysOf(fourDryRuns), undefined],
    ['a job beside own jobs whose last try failed', [...failing, other], 0, keysOf(failing), 'c'],
    [
      'none beyond 16 own jobs',
      [...failing, ...moreFailing, other],
      0,
      keysOf([...failing, ...moreFailing]),
      undefined,
    ],
  ] as const)('%s', (_, open: readonly Job[], sinceLastRecord, own, id) => {
    expect(nextClaim(open, { sinceLastRecord: () => durationMs(sinceLastRecord), own: new Set<string>(own) })?.id).toBe(
      id,
    )
  })
})

describe('a request to cancel', () => {
  it.each([
    ['a waiting job ends', first, { state: 'cancelled', version: 2, endedAt: 7 }],
    ['a waiting job loses the error of an earlier try', { ...first, error: 'down' }, { error: undefined }],
    ['a running job gets the request', running(first), { state: 'running', version: 3, isCancelRequested: true }],
    [
      'a job that is being cancelled does not change',
      { ...running(first), isCancelRequested: true as const },
      undefined,
    ],
    ['an ended job does not change', { ...first, state: 'done' as const }, undefined],
  ])('%s', (_, job, result) => {
    const step = cancelOf(job, epochMs(7))
    if (result === undefined) expect(step).toBeUndefined()
    else expect(step?.(job, 'w')).toMatchObject(result)
  })
})

describe('the owner', () => {
  it.each([
    ['of a running job', running(first, 'one'), 'owned'],
    ['of a job with a request to cancel', { ...running(first, 'one'), isCancelRequested: true as const }, 'cancelled'],
    ['of a job that another process took over', running(first, 'two'), 'lost'],
    ['of a job that ended', { ...running(first, 'one'), state: 'done' as const }, 'lost'],
    ['of an unknown job', undefined, 'lost'],
  ] as const)('%s', (_, job, ownership) => expect(ownershipOf(job, 'one')).toBe(ownership))

  it('leaves a job without an owner, with its progress and its start', () => {
    const job = claimed('one', epochMs(5))(first, 'w')
    const left = released({ next: [7] })(job, 'x')
    expect(left).toMatchObject({ state: 'waiting', version: 3, next: [7], startedAt: 5 })
    expect(left).not.toHaveProperty('owner')
    expect(claimed('two', epochMs(9))(left, 'y').startedAt).toBe(5)
  })
})
