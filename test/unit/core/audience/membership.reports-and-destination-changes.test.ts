import { describe } from '@jest/globals'
import { stories } from '../../../support/audience/membership-story.ts'

describe('reports that arrive twice, late, or in another order', () => {
  stories([
    ['the same delivery twice', '10 true, ok 2 true, ok 2 true', 'sends true 2, kept, -'],
    ['the same failure twice', '10 true, lost 2 true, lost 2 true', 'sends true 2, kept, -'],
    [
      'a delivery that was reported already, after a newer change',
      '10 true, ok 2 true, 20 false, ok 3 false, ok 2 true',
      'sends true 2, kept, sends false 3, kept, -',
    ],
    ['a failure of another copy of a delivered change', '10 true, ok 2 true, lost 2 true', 'sends true 2, kept, -'],
    [
      'a failed change arrived after a newer one: the destination may have it',
      '10 true, lost 2 true, 20 false, ok 3 false, ok 2 true, ok 4 false',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept',
    ],
    [
      'the destination has the new value after the next report',
      '10 true, lost 2 true, 20 false, ok 3 false, ok 2 true, ok 4 false, ok 2 true',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept, -',
    ],
    [
      'a change that is dead-lettered twice may have arrived',
      '10 true, lost 2 true, 20 false, ok 3 false, lost 2 true',
      'sends true 2, kept, sends false 3, kept, sends false 4',
    ],
    [
      'a failed change arrived while a newer one was in flight: the newer one proves nothing',
      '10 true, lost 2 true, 20 false, ok 2 true, ok 3 false, ok 4 false',
      'sends true 2, kept, sends false 3, kept, sends false 4, kept',
    ],
    [
      'a failed change arrived with the value of the newer one',
      '10 true, lost 2 true, 20 true, ok 2 true, ok 3 true',
      'sends true 2, kept, sends true 3, kept, kept',
    ],
    [
      'a failed change arrived after the newer one, with the same value',
      '10 true, lost 2 true, 20 true, ok 3 true, ok 2 true',
      'sends true 2, kept, sends true 3, kept, kept',
    ],
    [
      'a failed change arrived, and there is no newer one: it stays unknown',
      '10 true, lost 2 true, ok 2 true, 20 true',
      'sends true 2, kept, kept, sends true 3',
    ],
    [
      'an expired change arrives after its replacement',
      '10 true, wait 169h, 20 false, ok 3 false, ok 2 true',
      'sends true 2, sends false 3, kept, sends false 4',
    ],
    [
      'a report after 7 days, when no copy can be left',
      '10 true, lost 2 true, 20 false, ok 3 false, wait 169h, ok 2 true',
      'sends true 2, kept, sends false 3, kept, -',
    ],
    ['a report of an earlier change of an unknown user', 'raise 20, ok 2 true', '-, -'],
  ])
})

describe('a report of an unknown change', () => {
  stories([
    [
      'a crash lost the state: no version is used twice',
      '10 true, ok 2 true, ok 5 false, 20 true',
      'sends true 2, kept, kept, sends true 6',
    ],
    ['a dead-lettered change', '10 true, ok 2 true, lost 5 false, 20 true', 'sends true 2, kept, kept, sends true 6'],
    ['a change in flight becomes unconfirmed', '10 true, ok 3 false, ok 2 true', 'sends true 2, kept, sends true 4'],
    ['all states were lost: the end of the next sync removes the member', 'ok 2 true, end 20', 'kept, sends false 3'],
    ['all states were lost: the next sync confirms the member', 'ok 2 true, 20 true', 'kept, kept'],
    [
      'another value under the same version',
      '10 true, ok 2 false, ok 2 true, ok 3 true',
      'sends true 2, kept, sends true 3, kept',
    ],
    [
      'another value under an acknowledged version',
      '10 true, ok 2 true, ok 2 false',
      'sends true 2, kept, sends true 3',
    ],
    ['and dead-lettered', '10 true, lost 2 false, ok 2 true', 'sends true 2, -, kept'],
  ])
})

describe('a destination leaves the list and joins it again', () => {
  stories([
    [
      'it gets nothing, and its reports still count',
      '10 true, off, 20 false, ok 2 true, on, 30 false',
      'sends true 2, kept, kept, sends false 3',
    ],
    [
      'the end of a sync does not affect it',
      '10 true, ok 2 true, off, end 20, on, end 30',
      'sends true 2, kept, -, sends false 3',
    ],
    ['a replay sends nothing to it', '10 true, lost 2 true, off, resend', 'sends true 2, kept, -'],
  ])
})

describe('a destination is disabled and enabled again', () => {
  stories([
    ['a new member waits for the next sync', 'disabled, 10 true, on, 20 true', 'kept, sends true 2'],
    [
      'the next sync sends the newest value',
      '10 true, ok 2 true, disabled, 20 false, on, 30 false',
      'sends true 2, kept, kept, sends false 3',
    ],
    [
      'the end of a sync changes the value that the destination should have',
      '10 true, ok 2 true, disabled, end 20, on, end 30',
      'sends true 2, kept, kept, sends false 3',
    ],
    [
      'a value that has returned needs no message',
      '10 true, ok 2 true, disabled, end 20, 30 true, on, 40 true',
      'sends true 2, kept, kept, kept, kept',
    ],
  ])
})
