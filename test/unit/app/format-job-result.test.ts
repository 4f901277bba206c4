import { expect, it } from '@jest/globals'
import type { ShownJob } from '../../../src/adapters/operator-client/job-client.ts'
import { jobLines } from '../../../src/app/format-job-result.ts'

const createdAt = '2026-01-01T00:00:00Z'
const job: ShownJob = {
  id: 'r-1',
  createdAt,
  kind: 'replay',
  state: 'done',
  progress: { seen: 100, replayed: 3, refused: 1 },
}
const counts = [
  { count: 3, destination: 'crm', reason: 'http_4xx', topic: 'hookline.retry.1m' },
  { count: 1, destination: 'crm', reason: 'undecodable', refusal: 'undecodable' },
]

it.each<[string, Partial<ShownJob>, string]>([
  ['a replay', {}, '100 dead letters read; of those that match the filters: 3 replayed, 1 not replayed; state: done'],
  [
    'the dry run of a replay with more rows than the counts of the job',
    { dryRun: true, progress: { seen: 100, replayed: 0, replayable: 60, refused: 40 }, counts },
    '100 dead letters read; of those that match the filters: 60 would be replayed, 40 could not be replayed; state: done',
  ],
  [
    'the dry run of a replay that a process of an earlier version ran',
    { dryRun: true, progress: { seen: 100, replayed: 0, refused: 0 }, counts },
    '100 dead letters read; of those that match the filters: 3 would be replayed, 1 could not be replayed; state: done',
  ],
  [
    'the dry run of a resend',
    { kind: 'resend', dryRun: true, progress: { read: 5, sent: 4, skipped: 1 } },
    '5 events read, 4 would be resent, 1 skipped (for example events for other destinations, events of other types or users, and events of deleted users); state: done',
  ],
  [
    'a resend with events that the retry topic refused',
    { kind: 'resend', progress: { read: 5, sent: 2, skipped: 1, tooLarge: 2 } },
    '5 events read, 2 resent, 1 skipped (for example events for other destinations, events of other types or users, and events of deleted users), 2 not resent because they are too large for the retry topic; state: done',
  ],
])('the totals of %s', (_, changed, text) => {
  expect(jobLines({ ...job, ...changed }).at(-1)).toBe(text)
})
