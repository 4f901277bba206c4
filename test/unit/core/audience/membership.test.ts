import { describe, expect, it } from '@jest/globals'
import { stories, tell } from '../../../support/audience/membership-story.ts'

/** Number of sync ids in a day: 1,024 for each millisecond. */
const day = 24 * 3_600_000 * 1024

describe('sends only a value that differs from the acknowledged one', () => {
  stories([
    ['the first sync sends every member', '10 true', 'sends true 2'],
    ['later syncs without a difference', '10 true, ok 2 true, 20 true, 30 true', 'sends true 2, kept, kept, kept'],
    ['a user who never was a member', '10 false', 'kept'],
    [
      'a member who leaves and returns',
      '10 true, ok 2 true, 20 false, ok 3 false, 30 true',
      'sends true 2, kept, sends false 3, kept, sends true 4',
    ],
    ['an older sync after a newer one', '20 true, ok 2 true, 10 false', 'sends true 2, kept, -'],
    ['an older sync after a newer one without a change', '20 false, 10 true', 'kept, -'],
    ['the same value twice in one sync', '10 true, 10 true, ok 2 true, 10 true', 'sends true 2, -, kept, -'],
    ['two values in one sync: the later counts', '10 true, ok 2 true, 10 false', 'sends true 2, kept, sends false 3'],
  ])
})

describe('the end of a full sync', () => {
  stories([
    ['removes a user who was not in it', '10 true, ok 2 true, end 20', 'sends true 2, kept, sends false 3'],
    ['keeps a user who was in it, or in a later one', '20 true, ok 2 true, end 20, end 10', 'sends true 2, kept, -, -'],
    [
      'an end of an older or newer sync afterwards changes nothing',
      '10 true, ok 2 true, end 30, ok 3 false, end 20, end 40',
      'sends true 2, kept, sends false 3, kept, -, -',
    ],
    [
      'sends an undelivered change again',
      '10 true, ok 2 true, end 20, lost 3 false, end 30',
      'sends true 2, kept, sends false 3, kept, sends false 4',
    ],
    ['ignores a user who never was a member', '10 false, end 20', 'kept, -'],
  ])
  it('the value of a trait is null then', () => {
    expect(tell('10 7, ok 2 7, end 20', 'null').lines).toEqual(['sends 7 2', 'kept', 'sends null 3'])
  })
})

describe('sends nothing while a change is in flight', () => {
  stories([
    ['a change back waits for the outcome', '10 true, 20 false, ok 2 true', 'sends true 2, kept, sends false 3'],
    ['flips collapse', '10 true, 20 false, 30 true, ok 2 true', 'sends true 2, kept, kept, kept'],
    [
      'a value observed during an attempt is sent when the attempt fails',
      '10 true, 20 false, lost 2 true',
      'sends true 2, kept, sends false 3',
    ],
    ['the end of a sync waits too', '10 true, end 20, ok 2 true', 'sends true 2, kept, sends false 3'],
    [
      'a change without an outcome counts as undelivered after 7 days',
      '10 true, wait 168h, 20 true, wait 1ms, 30 true',
      'sends true 2, kept, sends true 3',
    ],
    ['after it, a value observed in flight is sent', '10 true, wait 169h, 20 false', 'sends true 2, sends false 3'],
    ['its outcome arrives after that time', '10 true, wait 169h, ok 2 true, 20 true', 'sends true 2, kept, kept'],
  ])
})

describe('a change that could not be delivered', () => {
  stories([
    ['waits for the next sync', '10 true, lost 2 true, 20 true', 'sends true 2, kept, sends true 3'],
    ['is not sent again by the same sync', '10 true, lost 2 true, 10 true', 'sends true 2, kept, -'],
    ['the next sync may have another value', '10 true, lost 2 true, 20 false', 'sends true 2, kept, sends false 3'],
    ['is replayed with the current value', '10 true, lost 2 true, resend', 'sends true 2, kept, sends true 3'],
    ['a replay of a change that was delivered after all', '10 true, ok 2 true, resend', 'sends true 2, kept, -'],
    ['a resend of a change in flight', '10 true, resend', 'sends true 2, -'],
    ['a resend for an unknown user', 'resend', '-'],
  ])
})

describe('reset: the destination has lost its data', () => {
  stories([
    ['the next sync sends all members', '10 true, ok 2 true, reset, 20 true', 'sends true 2, kept, kept, sends true 3'],
    [
      'a change in flight proves nothing',
      '10 true, reset, ok 2 true, ok 3 true',
      'sends true 2, kept, sends true 3, kept',
    ],
    ['twice', '10 true, ok 2 true, reset, reset', 'sends true 2, kept, kept, -'],
    ['a reset of an unknown membership', '10 true, lost 2 true, reset', 'sends true 2, kept, -'],
  ])
})

describe('forgets memberships that are no longer needed', () => {
  const out = '10 true, ok 2 true, 20 false, ok 3 false'
  const before = 'sends true 2, kept, sends false 3, kept'
  stories([
    ['when no older sync can be in progress', `${out}, raise 19, raise 20`, `${before}, -, gone`],
    [
      'at the acknowledgement when that comes last',
      '10 true, ok 2 true, 20 false, raise 20, ok 3 false',
      'sends true 2, kept, sends false 3, -, gone',
    ],
    ['not of a member', '10 true, ok 2 true, raise 20', 'sends true 2, kept, -'],
    [
      'not before the acknowledgement',
      '10 true, ok 2 true, 20 false, raise 30, lost 3 false, raise 30',
      'sends true 2, kept, sends false 3, -, kept, -',
    ],
    [
      'not while a copy may be in flight',
      '10 true, lost 2 true, 20 false, ok 3 false, raise 30, wait 169h, raise 30',
      'sends true 2, kept, sends false 3, kept, -, gone',
    ],
    ['of a user who never was a member', '10 false, raise 10, raise 11', 'kept, gone, -'],
    ['whose versions are not used again', `${out}, raise 20, 21 true`, `${before}, gone, sends true 22`],
    ['a sync that began earlier uses higher versions', 'raise 50, 21 true', '-, sends true 52'],
    [
      'not while their versions are above the floor of the watermark',
      '10 true, ok 2 true, 10 false, ok 3 false, raise 10/2, raise 10/3',
      'sends true 2, kept, sends false 3, kept, -, gone',
    ],
    [
      'of a removed destination, a day of syncs later',
      `10 true, ok 2 true, 15 true, removed, raise 20, raise ${day}, raise ${day + 15}`,
      'sends true 2, kept, kept, -, -, gone',
    ],
    [
      'a change in flight to a removed destination, whose outcome comes too late',
      `10 true, removed, raise ${day + 10}, lost 2 true`,
      'sends true 2, gone, -',
    ],
    [
      'not of a destination that is only off the list',
      `10 true, ok 2 true, off, raise ${day + 10}`,
      'sends true 2, kept, -',
    ],
    ['a deleted user immediately, without a message', '10 true, forget', 'sends true 2, gone'],
    ['a deleted user of whom nothing is known', 'forget', '-'],
  ])
})

describe('an input that is processed again after a crash changes nothing', () => {
  stories([
    ['an observation', '10 true, again 10 false', 'sends true 2, -'],
    ['a report', '10 true, lost 2 true, again ok 2 true', 'sends true 2, kept, -'],
    ['a reset', '10 true, ok 2 true, again reset', 'sends true 2, kept, -'],
  ])
})

it('keeps the position, the time and the sync', () => {
  expect(tell('10 true, lost 2 true, 20 false').state).toEqual({
    desired: 'false',
    acknowledged: undefined,
    inFlight: { value: 'false', since: expect.any(Number), isOvertaken: false },
    version: 3,
    syncId: 20,
    unconfirmed: { bitSet: 0b10, until: expect.any(Number) },
    position: 3,
  })
})
