import { expect, it } from '@jest/globals'
import { dryRunText } from '../../../../packages/console/src/pages/dead-letters/replay-dry-run-text.ts'

it.each([
  [
    'done',
    3,
    1,
    '3 dead letters can be replayed. 1 dead letter cannot be replayed: 1 because the destination is disabled.',
  ],
  ['done', 1, 0, '1 dead letter can be replayed.'],
  ['running', 1200, 0, 'Counting… 1,200 dead letters read so far.'],
  ['waiting', 0, 0, 'The dry run starts when earlier replays and dry runs of replays have ended.'],
  ['failed', 0, 0, 'Hookline did not count all dead letters, because the dry run failed.'],
  ['cancelled', 2, 0, 'Hookline did not count all dead letters, because an operator cancelled the dry run.'],
] as const)('a dry run that is %s with %d', (state, replayed, refused, text) => {
  const counts = [
    { count: replayed, topic: 'hookline.retry.10s' },
    { count: refused, refusal: 'disabled' },
  ]
  const progress = { seen: replayed + refused, replayed: 0, replayable: replayed, refused }
  expect(dryRunText({ state, progress, counts })).toBe(text)
})

it('a dry run with more rows than the result lists', () => {
  const progress = { seen: 700, replayed: 0, replayable: 600, refused: 100 }
  const counts = [{ count: 400 }, { count: 90, refusal: 'disabled' }]
  expect(dryRunText({ state: 'done', progress, counts })).toBe(
    '600 dead letters can be replayed. 100 dead letters cannot be replayed: 90 because the destination is disabled, 10 for reasons that the dry run does not report.',
  )
})

it('a dry run that a process of an earlier version ran', () => {
  const progress = { seen: 700, replayed: 0, refused: 0 }
  const counts = [{ count: 400 }, { count: 90, refusal: 'disabled' }]
  expect(dryRunText({ state: 'done', progress, counts })).toBe(
    '400 dead letters can be replayed. 90 dead letters cannot be replayed: 90 because the destination is disabled.',
  )
})

it('a dry run that failed says why', () => {
  expect(dryRunText({ state: 'failed', error: 'the record is too large' })).toMatch(/failed: the record is too large$/)
})
