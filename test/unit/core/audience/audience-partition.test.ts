import { beforeEach, describe, expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/configured-audiences.ts'
import { changeId } from '../../../../src/core/audience/identify-message.ts'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { syncStatusOf } from '../../../../src/core/audience/membership-status-at-destination.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  audience,
  directoryWith,
  ended,
  observed,
  outcome,
  PartitionHarness,
  sync,
} from '../../../support/audience/partition-harness.ts'
import { destinationOf, start } from '../../../support/builders.ts'

let harness: PartitionHarness
beforeEach(() => {
  harness = new PartitionHarness()
})

it('an observation makes one change for each destination on the list, and the first one starts a full sync', () => {
  expect(harness.apply(observed('ann', 0))).toEqual([
    expect.stringMatching(/^watermark/),
    'ann crm true {"first_time_shopper":true}',
    'ann erp true {"first_time_shopper":true}',
  ])
  expect(harness.apply(observed('bob', 0))).toHaveLength(2)
  expect(harness.apply(observed('cem', 1, 'true', 'partial'))).toHaveLength(2)
})

it('the identify is an event of the reserved source for one destination, and a repeated input gives the same event', () => {
  const context = { position: 5, at: start, now: () => epochMs(start + 99) }
  const [, crm] = [...harness.partition.applyInput(observed('ann', 0), context)]
  const version = sync(0) + 1
  expect(crm).toMatchObject({
    identify: {
      sourceId: 'hookline.audiences',
      destinationId: 'crm',
      receivedAt: start,
      canonical: true,
      origin: { kind: 'audience', id: audience, version },
      message: {
        type: 'identify',
        messageId: changeId({ audience, userId: 'ann', destination: 'crm' }, { version, value: 'true' as JsonText }),
        userId: 'ann',
        timestamp: start,
        traits: '{"first_time_shopper":true}',
      },
    },
    state: { inFlight: { since: start + 99 } },
  })
})

describe('the end of a sync', () => {
  it('removes users who were not seen, then writes the watermark, then forgets unneeded memberships', () => {
    harness.apply(observed('ann', 0))
    harness.apply(observed('bob', 0, 'false'))
    harness.apply(outcome('ann', sync(1) + 1))
    harness.apply(observed('cem', 1))
    expect(harness.apply(ended(1))).toEqual([
      'ann crm false {"first_time_shopper":false}',
      // No JSON follows `false`: Hookline sends no message, because the user's previous change at
      // `erp` has no result yet.
      'ann erp false',
      expect.stringMatching(/^watermark 1 /),
      'bob crm gone',
      'bob erp gone',
    ])
  })
  it('of a partial sync does nothing, except closing syncs that are a week old', () => {
    harness.apply(observed('ann', 0, 'false', 'partial'))
    expect(harness.apply(ended(0, 'partial'))).toEqual([expect.stringMatching(/^watermark/)])
    expect(harness.apply(ended(1, 'partial'))).toEqual([])
    expect(harness.apply(ended(2, 'partial'), 9 * 24 * 60)).toEqual([
      expect.stringMatching(/^watermark/),
      'ann crm gone',
      'ann erp gone',
    ])
  })
  it('pauses after each 1,000 members that it visits, even if no member changes', () => {
    for (let user = 0; user < 2_500; user++) harness.apply(observed(`user-${user}`, 0))
    const visits = Array(5).fill('visited')
    expect(harness.apply(ended(0))).toEqual([...visits, expect.stringMatching(/^watermark/), ...visits])
  })
  it('can be iterated while states change their size', () => {
    for (let user = 0; user < 500; user++) harness.apply(observed(`user-${user}`, 0))
    expect(harness.apply({ kind: 'reset', audience, destination: 'crm' })).toHaveLength(500)
    expect(harness.partition.size()).toMatchObject({ members: 1_000 })
    expect(harness.partition.size().bytes).toBeGreaterThan(10_000)
  })
})

describe('a sync whose start is in the future', () => {
  const week = 7 * 24 * 60

  it('makes all earlier syncs stale until a reset of the audience', () => {
    harness.apply(observed('ann', week))
    harness.apply(ended(week))
    expect(harness.apply(observed('bob', 2))).toEqual(['sync_closed'])
    harness.apply({ kind: 'reset', audience, destination: undefined })
    expect(harness.apply(observed('bob', 60))).toContainEqual(expect.stringMatching(/^bob crm true/))
    expect(harness.apply(ended(60))).toContainEqual(expect.stringMatching(/^ann crm false/))
  })

  it('has no effect on later observations of its users after the reset', () => {
    harness.apply(observed('ann', week, 'true', 'partial'))
    expect(harness.apply(observed('ann', 2, 'false', 'partial'))).toEqual([])
    harness.apply({ kind: 'reset', audience, destination: undefined })
    expect(harness.apply(observed('ann', 60, 'false', 'partial'))).toContainEqual(
      expect.stringMatching(/^ann crm false/),
    )
  })
})

describe('memberships of a removed destination', () => {
  const list = [{ name: audience, kind: 'audience' as const, destinations: ['crm'] }]
  const without = audienceDirectory({
    audiences: { emitPerSecond: 1, list },
    destinations: [destinationOf({ id: 'crm' })],
  })
  const dayMinutes = 24 * 60

  it('are forgotten at the end of a sync a day later, and later reports change nothing', () => {
    harness.apply(observed('ann', 0))
    harness.apply(ended(0))
    harness.directory = without
    for (const minutes of [dayMinutes - 5, dayMinutes]) {
      harness.apply(observed('ann', minutes), dayMinutes / 2)
      harness.apply(ended(minutes))
    }
    expect(harness.partition.size().members).toBe(1)
    expect(harness.apply({ ...outcome('ann', 1), destination: 'erp' } as AudienceInput)).toEqual([])
  })

  it('are kept while the destination is only off the list', () => {
    harness.apply(observed('ann', 0))
    harness.apply(ended(0))
    harness.directory = directoryWith(['crm'])
    harness.apply(observed('ann', dayMinutes), dayMinutes)
    harness.apply(ended(dayMinutes))
    expect(harness.partition.size().members).toBe(2)
  })
})

describe('a disabled destination of the audience', () => {
  const list = [{ name: audience, kind: 'audience' as const, destinations: ['crm', 'erp'] }]
  const disabled = audienceDirectory({
    audiences: { emitPerSecond: 1, list },
    destinations: [destinationOf({ id: 'crm' }), destinationOf({ id: 'erp', enabled: false })],
  })
  /** The users whose memberships at the disabled destination change, with their sync statuses. */
  const changed = (input: AudienceInput) =>
    harness.changes(input).flatMap(change => {
      if (change.kind !== 'membership' || change.key.destination !== 'erp' || change.state === undefined) return []
      return [[change.key.userId, syncStatusOf(change.state, harness.now)]]
    })

  it('has the status different for each change that it misses, and gets them with the next sync', () => {
    harness.apply(observed('ann', 0))
    harness.apply({ ...outcome('ann', sync(1) + 1), destination: 'erp' } as AudienceInput)
    harness.directory = disabled
    expect(changed(observed('bob', 1))).toEqual([['bob', 'different']])
    expect(changed(ended(1))).toEqual([['ann', 'different']])
    expect(harness.apply(observed('cem', 2))).toContainEqual('cem erp true')
    harness.directory = directoryWith(['crm', 'erp'])
    expect(harness.apply(observed('bob', 2))).toContainEqual('bob erp true {"first_time_shopper":true}')
    expect(harness.apply(ended(2))).toContainEqual('ann erp false {"first_time_shopper":false}')
  })
})

describe('a full list whose audience was missing from the configuration for a while', () => {
  const known = directoryWith(['crm', 'erp'])
  const unknown = audienceDirectory({ audiences: { emitPerSecond: 1, list: [] }, destinations: [] })
  const watermark = expect.stringMatching(/^watermark/)

  it.each<[string, before: AudienceInput[], lost: AudienceInput[]]>([
    ['its first part was lost', [], [observed('ann', 1)]],
    ['a later part was lost', [observed('cem', 1)], [observed('ann', 1), observed('dee', 1)]],
  ])('%s: the sync removes nobody, like an incomplete list', (_, before, lost) => {
    for (const user of ['ann', 'bob']) harness.apply(observed(user, 0))
    harness.apply(ended(0))
    for (const input of before) harness.apply(input)
    harness.directory = unknown
    const [first, ...others] = lost.map(input => [
      harness.partition.mustRunAlone(input, harness.now),
      harness.apply(input),
    ])
    expect(first).toEqual([true, ['unknown_audience', watermark]])
    for (const other of others) expect(other).toEqual([false, ['unknown_audience']])
    harness.directory = known
    expect(harness.apply(observed('bob', 1))).toEqual(['sync_cancelled'])
    expect(harness.apply(ended(1))).toEqual(['sync_cancelled'])
    // No input of sync 2 is lost, so sync 2 removes the users that are not in its list.
    harness.apply(observed('bob', 2))
    const out = harness.apply(ended(2)).flatMap(each => /^(\w+) crm false/.exec(each)?.[1] ?? [])
    expect(out.toSorted()).toEqual(['ann', ...before.map(() => 'cem')])
  })
  it('a partial list continues, because it removes nobody', () => {
    harness.directory = unknown
    expect(harness.apply(observed('ann', 1, 'true', 'partial'))).toEqual(['unknown_audience'])
    harness.directory = known
    expect(harness.apply(observed('bob', 1, 'true', 'partial'))).toHaveLength(2)
  })
  it('a sync that has ended or was cancelled keeps its state', () => {
    harness.apply(observed('ann', 1))
    harness.apply(ended(1))
    harness.directory = unknown
    expect(harness.apply(observed('ann', 1))).toEqual(['unknown_audience'])
    expect(harness.apply(observed('ann', 0))).toEqual(['unknown_audience'])
    harness.directory = known
    expect(harness.apply(observed('bob', 2))).toHaveLength(3)
  })
})

it('an input that cannot be decoded cancels the full syncs that began up to a minute after it, and no later one', () => {
  for (const user of ['ann', 'bob']) harness.apply(observed(user, 0))
  harness.apply(ended(0))
  harness.apply(observed('ann', 3))
  expect(harness.partition.mustRunAlone({ kind: 'lost' }, harness.now)).toBe(true)
  expect(harness.apply({ kind: 'lost' })).toEqual([expect.stringMatching(/^watermark/)])
  expect(harness.apply(observed('cem', 3))).toEqual(['sync_cancelled'])
  expect(harness.apply(ended(3))).toEqual(['sync_cancelled'])
  // The lost input may have been the only observation of sync 4, so sync 4 is cancelled too.
  expect(harness.apply(ended(4))).toEqual(['sync_cancelled'])
  expect(harness.apply(ended(5.99))).toEqual(['sync_cancelled'])
  expect(harness.apply(observed('dee', 4, 'true', 'partial'))).toContainEqual(expect.stringMatching(/^dee crm true/))
  expect(harness.apply(observed('ann', 7))).toHaveLength(3)
  expect(harness.apply(ended(7))).toContainEqual('bob crm false')
})

it.each([
  ['the first line of its list', []],
  ['a later line of its list', ['ann']],
])('an input that cannot be decoded removes nobody when the clocks of the brokers differ: %s', (_name, before) => {
  for (const user of ['ann', 'bob']) harness.apply(observed(user, 0))
  harness.apply(ended(0))
  // By the clock of the broker that stores the inputs, the sync begins half a minute later.
  const ofAhead = 3.5
  for (const user of before) harness.apply(observed(user, ofAhead), 0)
  harness.apply({ kind: 'lost' }, 0)
  expect(harness.apply(observed('ann', ofAhead))).toEqual(['sync_cancelled'])
  expect(harness.apply(ended(ofAhead))).toEqual(['sync_cancelled'])
})

it.each([
  ['in the future', start + 24 * 3_600_000],
  ['in microseconds', start * 1_000],
])('an input that cannot be decoded, with a time %s, cancels no full sync of a minute later', (_name, time) => {
  const context = { position: harness.position++, at: epochMs(time), now: () => harness.now }
  expect([...harness.partition.applyInput({ kind: 'lost' }, context)]).toMatchObject([
    { kind: 'watermark', watermark: { cancelledBelow: sync(1) } },
  ])
  expect(harness.apply(observed('ann', 1.01))).toHaveLength(3)
})

describe('whether an input must run alone', () => {
  it.each<[string, AudienceInput, boolean]>([
    ['the first input of a full sync', observed('ann', 1), true],
    ['a later input of a full sync', observed('ann', 0), false],
    ['an input of a partial sync', observed('ann', 1, 'true', 'partial'), false],
    ['the end of a full sync', ended(0), true],
    ['the end of a partial sync that closes nothing', ended(0, 'partial'), false],
    ['a report', outcome('ann', 1), false],
    ['a replay', { kind: 'resend', audience, userId: 'ann', destination: 'crm' }, false],
    ['a reset', { kind: 'reset', audience, destination: undefined }, true],
    ['a deletion', { kind: 'forgotten', userId: 'ann' }, true],
  ])('%s', (_reason, input, expected) => {
    harness.apply(observed('bob', 0))
    harness.apply(ended(-1, 'partial'))
    expect(harness.partition.mustRunAlone(input, harness.now)).toBe(expected)
  })
})

describe('an input without effect has a reason', () => {
  it('an audience that is not configured', () => {
    harness.directory = audienceDirectory({ audiences: { emitPerSecond: 1, list: [] }, destinations: [] })
    expect(harness.apply(observed('ann', 0, 'true', 'partial'))).toEqual(['unknown_audience'])
    expect(harness.apply(ended(0))).toEqual(['unknown_audience'])
  })
  it('a sync that a newer one cancelled or closed', () => {
    harness.apply(observed('ann', 5))
    expect(harness.apply(observed('bob', 4))).toEqual(['sync_cancelled'])
    expect(harness.apply(ended(4))).toEqual(['sync_cancelled'])
    harness.apply(ended(5))
    expect(harness.apply(observed('bob', 4, 'true', 'partial'))).toEqual(['sync_closed'])
    expect(harness.apply(ended(5))).toEqual(['sync_closed'])
  })
  it('a user who was deleted after the start of the list, or is suppressed', () => {
    harness.marks.apply('ann', [{ source: undefined, deletedAt: epochMs(start + 60_000), isSuppressed: false }])
    harness.marks.apply('bob', [{ source: undefined, deletedAt: start, isSuppressed: true }])
    expect(harness.apply(observed('ann', 1, 'true', 'partial'))).toEqual(['user_deleted'])
    expect(harness.apply(observed('ann', 2, 'true', 'partial'), 5)).toHaveLength(2)
    expect(harness.apply(observed('bob', 9, 'true', 'partial'), 9)).toEqual(['suppressed'])
    expect(harness.apply(outcome('bob', sync(9)))).toEqual(['user_deleted'])
  })
})
