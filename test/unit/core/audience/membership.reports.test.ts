import { describe, expect, it } from '@jest/globals'
import { tell } from '../../../support/audience/membership-story.ts'

/** Runs stories (see `tell`) and compares the answer to each event. */
const stories = (rows: readonly (readonly [reason: string, story: string, answers: string])[]): void => {
  it.each(rows)('%s: %s', (_reason, story, answers) => {
    expect(tell(story).lines.join(', ')).toBe(answers)
  })
}

describe('reports that arrive twice, late, or in another order', () => {
  stories([
    ['the same delivery twice', '10 true, ok 2 true, ok 2 true', 'sends true 2, kept, -'],
    ['the same failure twice', '10 true, lost 2 true, lost 2 true', 'sends true 2, kept, -'],
    [
      'a delivery that was known, after a newer change',
      '10 true, ok 2 true, 20 false, ok 3 false, ok 2 true',
      'sends true 2, kept, sends false 3, kept, -',
    ],
    ['a failure of what was delivered: another copy', '10 true, ok 2 true, lost 2 true', 'sends true 2, kept, -'],
    [
      'a failed change arrived after a newer one: the destination may have it',
      '10 true, lost 2 true, 20 false, ok 3 false, ok 2 true, ok 4 false',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept',
    ],
    [
      'and is known then',
      '10 true, lost 2 true, 20 false, ok 3 false, ok 2 true, ok 4 false, ok 2 true',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept, -',
    ],
    [
      'a change that was dead-lettered again may have arrived',
      '10 true, lost 2 true, 20 false, ok 3 false, lost 2 true',
      'sends true 2, kept, sends false 3, kept, sends false 4',
    ],
    [
      'it arrived while a newer one was in flight: that one proves nothing',
      '10 true, lost 2 true, 20 false, ok 2 true, ok 3 false, ok 4 false',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept',
    ],
    [
      'with the value that the destination has anyway',
      '10 true, lost 2 true, 20 true, ok 2 true, ok 3 true',
      'sends true 2, kept, sends true 3, kept, kept',
    ],
    [
      'the same, when the newer one is acknowledged',
      '10 true, lost 2 true, 20 true, ok 3 true, ok 2 true',
      'sends true 2, kept, sends true 3, kept, kept',
    ],
    [
      'a failed change arrived, and nothing is newer: it stays unknown',
      '10 true, lost 2 true, ok 2 true, 20 true',
      'sends true 2, kept, kept, sends true 3',
    ],
    [
      'an expired change arrives after its replacement',
      '10 true, wait 6h, 20 false, ok 3 false, ok 2 true',
      'sends true 2, sends false 3, kept, sends false 4',
    ],
    [
      'after 7 days no copy is left',
      '10 true, lost 2 true, 20 false, ok 3 false, wait 169h, ok 2 true',
      'sends true 2, kept, sends false 3, kept, -',
    ],
    ['of an unknown user, from earlier', 'sweep 20, ok 2 true', '-, -'],
  ])
})

describe('a report of an unknown change', () => {
  stories([
    [
      'a state was lost with its crash: no version comes twice',
      '10 true, ok 2 true, ok 5 false, 20 true',
      'sends true 2, kept, kept, sends true 6',
    ],
    ['it was dead-lettered', '10 true, ok 2 true, lost 5 false, 20 true', 'sends true 2, kept, kept, sends true 6'],
    ['one in flight is in doubt then', '10 true, ok 3 false, ok 2 true', 'sends true 2, kept, sends true 4'],
    ['all states were lost: the end of the next sync takes it back', 'ok 2 true, end 20', 'kept, sends false 3'],
    ['or the sync confirms it', 'ok 2 true, 20 true', 'kept, kept'],
    [
      'with another value under the same version',
      '10 true, ok 2 false, ok 2 true, ok 3 true',
      'sends true 2, kept, sends true 3, kept',
    ],
    [
      'the same, when the known one was acknowledged',
      '10 true, ok 2 true, ok 2 false',
      'sends true 2, kept, sends true 3',
    ],
    ['and dead-lettered', '10 true, lost 2 false, ok 2 true', 'sends true 2, -, kept'],
  ])
})

describe('a destination leaves the list and joins it again', () => {
  stories([
    [
      'nothing is sent to it, its reports still count',
      '10 true, off, 20 false, ok 2 true, on, 30 false',
      'sends true 2, kept, kept, sends false 3',
    ],
    [
      'the end of a sync is not about it',
      '10 true, ok 2 true, off, end 20, on, end 30',
      'sends true 2, kept, -, sends false 3',
    ],
    ['a replay sends it nothing', '10 true, lost 2 true, off, resend', 'sends true 2, kept, -'],
  ])
})
