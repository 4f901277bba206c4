import { describe, expect, it } from '@jest/globals'
import { decodeJob, encodeJob, type Job } from '../../../../src/core/jobs/job.ts'
import { advanced, ended } from '../../../../src/core/jobs/job-transitions.ts'
import { JobLog } from '../../../../src/core/jobs/jobs-from-topic.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { replayJob, resendJob, running } from '../../../support/jobs/builders.ts'

const created = resendJob('a')
const claimed = running(created)
const done = ended('done', epochMs(9))(claimed, 'w')

function fold(before: readonly Job[], job: Job, isRead = true) {
  const log = new JobLog()
  for (const each of before) log.apply(each)
  if (isRead) log.markRead()
  return log.apply(job)
}

describe('the record that counts', () => {
  it.each([
    ['the first record of a job', [], created, 'applied'],
    ['the next version', [created], claimed, 'applied'],
    ['the same record again', [created, claimed], claimed, 'repeated'],
    ['another record of the version', [created, claimed], running(created, 'two'), 'ignored'],
    ['an old version', [created, claimed, advanced({})(claimed, 'w')], running(created, 'two'), 'ignored'],
    ['a version that skips one', [created], advanced({})(claimed, 'w'), 'ignored'],
    ['a change of an ended job', [created, claimed, done], advanced({})(done, 'x'), 'ignored'],
    ['a late record of a job that is no longer kept', [], claimed, 'ignored'],
    [
      'a start while a job of the destination runs',
      [created, claimed, resendJob('b')],
      running(resendJob('b')),
      'ignored',
    ],
    [
      'a start while a job of another destination runs',
      [created, claimed, resendJob('b', { destination: 'shop' })],
      running(resendJob('b', { destination: 'shop' })),
      'applied',
    ],
    ['a takeover', [created, claimed], running(claimed, 'two'), 'applied'],
    ['a copy of the record in force', [created, claimed], { ...claimed, copy: 1 }, 'repeated'],
    ['a copy of an old record', [created, claimed], { ...created, copy: 1 }, 'ignored'],
    ['a copy after a record that should be ignored', [running(created, 'two')], { ...done, copy: 1 }, 'restored'],
  ] as const)('%s: %#', (_, before, job, result) => {
    const isLast = before.length === 1 && before[0]?.version !== 1
    expect(fold(before, job, !isLast)).toBe(result)
  })

  it('is any record of a compacted topic, until the topic has been read', () => {
    expect(fold([], claimed, false)).toBe('applied')
  })
})

it('an ignored record needs a copy of the record in force, until the copy is read', () => {
  const log = new JobLog()
  for (const job of [created, claimed, done]) log.apply(job)
  log.apply(running(created, 'two'))
  const [copy, ...others] = log.copies()
  expect([copy, others]).toEqual([{ ...done, copy: 1 }, []])
  log.apply(copy as Job)
  expect(log.copies()).toEqual([])
})

it('a copy that shows that a job has not ended removes it from the ended jobs', () => {
  const log = new JobLog()
  for (const job of [created, claimed, done, { ...advanced({})(claimed, 'other'), copy: 1 }]) log.apply(job)
  expect([[...log.open].map(({ id }) => id), log.ended(10)]).toEqual([['a'], []])
})

it('keeps the last 1,000 ended jobs, for 30 days', () => {
  const log = new JobLog()
  for (let n = 0; n < 1_010; n++) {
    const job = resendJob(`j${n}`)
    log.apply(job)
    log.apply(ended('cancelled', epochMs(n))(job, `w${n}`))
  }
  expect(log.ended(0)).toHaveLength(1_000)
  expect(log.get('resend/j9')).toBeUndefined()
  expect(log.ended(30 * 24 * 3_600_000 + 999)).toHaveLength(10)
})

it('a job is the same after it was encoded and decoded', () => {
  for (const job of [claimed, done, replayJob('r', { evenDisconnected: true, rate: 5 })])
    expect(decodeJob(encodeJob(job))).toEqual(job)
  for (const text of ['', '{}', JSON.stringify({ ...created, format: 2 })]) expect(decodeJob(text)).toBeUndefined()
})
