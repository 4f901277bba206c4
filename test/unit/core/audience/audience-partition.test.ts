import { beforeEach, describe, expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/audience-directory.ts'
import { changeId } from '../../../../src/core/audience/identify-message.ts'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { syncStatusOf } from '../../../../src/core/audience/sync-status.ts'
import type { JsonText } from '../../../../src/core/message/json-text.ts'
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
  expect(harness.take(observed('ann', 0))).toEqual([
    expect.stringMatching(/^mark/),
    'ann crm true {"first_time_shopper":true}',
    'ann erp true {"first_time_shopper":true}',
  ])
  expect(harness.take(observed('bob', 0))).toHaveLength(2)
  expect(harness.take(observed('cem', 1, 'true', 'partial'))).toHaveLength(2)
})

it('the identify is an event of the reserved source for one destination, and a repeated input gives the same event', () => {
  const on = { position: 5, at: start, now: () => epochMs(start + 99) }
  const [, crm] = [...harness.partition.take(observed('ann', 0), on)]
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
    harness.take(observed('ann', 0))
    harness.take(observed('bob', 0, 'false'))
    harness.take(outcome('ann', sync(1) + 1))
    harness.take(observed('cem', 1))
    expect(harness.take(ended(1))).toEqual([
      'ann crm false {"first_time_shopper":false}',
      // No JSON follows `false`: Hookline sends no message, because the user's previous change at
      // `erp` has no result yet.
      'ann erp false',
      expect.stringMatching(/^mark 1 /),
      'bob crm gone',
      'bob erp gone',
    ])
  })
  it('of a partial sync does nothing, except closing syncs that are a week old', () => {
    harness.take(observed('ann', 0, 'false', 'partial'))
    expect(harness.take(ended(0, 'partial'))).toEqual([expect.stringMatching(/^mark/)])
    expect(harness.take(ended(1, 'partial'))).toEqual([])
    expect(harness.take(ended(2, 'partial'), 9 * 24 * 60)).toEqual([
      expect.stringMatching(/^mark/),
      'ann crm gone',
      'ann erp gone',
    ])
  })
  it('pauses after each 1,000 members that it visits, even if no member changes', () => {
    for (let user = 0; user < 2_500; user++) harness.take(observed(`user-${user}`, 0))
    const visits = Array(5).fill('visited')
    expect(harness.take(ended(0))).toEqual([...visits, expect.stringMatching(/^mark/), ...visits])
  })
  it('can be iterated while states change their size', () => {
    for (let user = 0; user < 500; user++) harness.take(observed(`user-${user}`, 0))
    expect(harness.take({ kind: 'reset', audience, destination: 'crm' })).toHaveLength(500)
    expect(harness.partition.size()).toMatchObject({ members: 1_000 })
    expect(harness.partition.size().bytes).toBeGreaterThan(10_000)
  })
})

describe('a sync whose start is in the future', () => {
  const week = 7 * 24 * 60

  it('makes all earlier syncs stale until a reset of the audience', () => {
    harness.take(observed('ann', week))
    harness.take(ended(week))
    expect(harness.take(observed('bob', 2))).toEqual(['sync_closed'])
    harness.take({ kind: 'reset', audience, destination: undefined })
    expect(harness.take(observed('bob', 60))).toContainEqual(expect.stringMatching(/^bob crm true/))
    expect(harness.take(ended(60))).toContainEqual(expect.stringMatching(/^ann crm false/))
  })

  it('has no effect on later observations of its users after the reset', () => {
    harness.take(observed('ann', week, 'true', 'partial'))
    expect(harness.take(observed('ann', 2, 'false', 'partial'))).toEqual([])
    harness.take({ kind: 'reset', audience, destination: undefined })
    expect(harness.take(observed('ann', 60, 'false', 'partial'))).toContainEqual(
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
    harness.take(observed('ann', 0))
    harness.take(ended(0))
    harness.directory = without
    for (const minutes of [dayMinutes - 5, dayMinutes]) {
      harness.take(observed('ann', minutes), dayMinutes / 2)
      harness.take(ended(minutes))
    }
    expect(harness.partition.size().members).toBe(1)
    expect(harness.take({ ...outcome('ann', 1), destination: 'erp' } as AudienceInput)).toEqual([])
  })

  it('are kept while the destination is only off the list', () => {
    harness.take(observed('ann', 0))
    harness.take(ended(0))
    harness.directory = directoryWith(['crm'])
    harness.take(observed('ann', dayMinutes), dayMinutes)
    harness.take(ended(dayMinutes))
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
    harness.take(observed('ann', 0))
    harness.take({ ...outcome('ann', sync(1) + 1), destination: 'erp' } as AudienceInput)
    harness.directory = disabled
    expect(changed(observed('bob', 1))).toEqual([['bob', 'different']])
    expect(changed(ended(1))).toEqual([['ann', 'different']])
    expect(harness.take(observed('cem', 2))).toContainEqual('cem erp true')
    harness.directory = directoryWith(['crm', 'erp'])
    expect(harness.take(observed('bob', 2))).toContainEqual('bob erp true {"first_time_shopper":true}')
    expect(harness.take(ended(2))).toContainEqual('ann erp false {"first_time_shopper":false}')
  })
})

describe('a full list whose audience was missing from the configuration for a while', () => {
  const known = directoryWith(['crm', 'erp'])
  const unknown = audienceDirectory({ audiences: { emitPerSecond: 1, list: [] }, destinations: [] })
  const mark = expect.stringMatching(/^mark/)

  it.each<[string, before: AudienceInput[], lost: AudienceInput[]]>([
    ['its first part was lost', [], [observed('ann', 1)]],
    ['a later part was lost', [observed('cem', 1)], [observed('ann', 1), observed('dee', 1)]],
  ])('%s: the sync removes nobody, like an incomplete list', (_, before, lost) => {
    for (const user of ['ann', 'bob']) harness.take(observed(user, 0))
    harness.take(ended(0))
    for (const input of before) harness.take(input)
    harness.directory = unknown
    const [first, ...others] = lost.map(input => [harness.partition.isFence(input, harness.now), harness.take(input)])
    expect(first).toEqual([true, ['unknown_audience', mark]])
    for (const other of others) expect(other).toEqual([false, ['unknown_audience']])
    harness.directory = known
    expect(harness.take(observed('bob', 1))).toEqual(['sync_cancelled'])
    expect(harness.take(ended(1))).toEqual(['sync_cancelled'])
    // No input of sync 2 is lost, so sync 2 removes the users that are not in its list.
    harness.take(observed('bob', 2))
    const out = harness.take(ended(2)).flatMap(each => /^(\w+) crm false/.exec(each)?.[1] ?? [])
    expect(out.toSorted()).toEqual(['ann', ...before.map(() => 'cem')])
  })
  it('a partial list continues, because it removes nobody', () => {
    harness.directory = unknown
    expect(harness.take(observed('ann', 1, 'true', 'partial'))).toEqual(['unknown_audience'])
    harness.directory = known
    expect(harness.take(observed('bob', 1, 'true', 'partial'))).toHaveLength(2)
  })
  it('a sync that has ended or was cancelled keeps its state', () => {
    harness.take(observed('ann', 1))
    harness.take(ended(1))
    harness.directory = unknown
    expect(harness.take(observed('ann', 1))).toEqual(['unknown_audience'])
    expect(harness.take(observed('ann', 0))).toEqual(['unknown_audience'])
    harness.directory = known
    expect(harness.take(observed('bob', 2))).toHaveLength(3)
  })
})

it('an input that cannot be decoded cancels the full syncs that began up to a minute after it, and no later one', () => {
  for (const user of ['ann', 'bob']) harness.take(observed(user, 0))
  harness.take(ended(0))
  harness.take(observed('ann', 3))
  expect(harness.partition.isFence({ kind: 'lost' }, harness.now)).toBe(true)
  expect(harness.take({ kind: 'lost' })).toEqual([expect.stringMatching(/^mark/)])
  expect(harness.take(observed('cem', 3))).toEqual(['sync_cancelled'])
  expect(harness.take(ended(3))).toEqual(['sync_cancelled'])
  // The lost input may have been the only observation of sync 4, so sync 4 is cancelled too.
  expect(harness.take(ended(4))).toEqual(['sync_cancelled'])
  expect(harness.take(ended(5.99))).toEqual(['sync_cancelled'])
  expect(harness.take(observed('dee', 4, 'true', 'partial'))).toContainEqual(expect.stringMatching(/^dee crm true/))
  expect(harness.take(observed('ann', 7))).toHaveLength(3)
  expect(harness.take(ended(7))).toContainEqual('bob crm false')
})

it.each([
  ['the first line of its list', []],
  ['a later line of its list', ['ann']],
])('an input that cannot be decoded removes nobody when the clocks of the brokers differ: %s', (_name, before) => {
  for (const user of ['ann', 'bob']) harness.take(observed(user, 0))
  harness.take(ended(0))
  // By the clock of the broker that stores the inputs, the sync begins half a minute later.
  const ofAhead = 3.5
  for (const user of before) harness.take(observed(user, ofAhead), 0)
  harness.take({ kind: 'lost' }, 0)
  expect(harness.take(observed('ann', ofAhead))).toEqual(['sync_cancelled'])
  expect(harness.take(ended(ofAhead))).toEqual(['sync_cancelled'])
})

it.each([
  ['in the future', start + 24 * 3_600_000],
  ['in microseconds', start * 1_000],
])('an input that cannot be decoded, with a time %s, cancels no full sync of a minute later', (_name, time) => {
  const on = { position: harness.position++, at: epochMs(time), now: () => harness.now }
  expect([...harness.partition.take({ kind: 'lost' }, on)]).toMatchObject([{ kind: 'mark', mark: { begun: sync(1) } }])
  expect(harness.take(observed('ann', 1.01))).toHaveLength(3)
})

describe('fences', () => {
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
    harness.take(observed('bob', 0))
    harness.take(ended(-1, 'partial'))
    expect(harness.partition.isFence(input, harness.now)).toBe(expected)
  })
})

describe('an input without effect has a reason', () => {
  it('an audience that is not configured', () => {
    harness.directory = audienceDirectory({ audiences: { emitPerSecond: 1, list: [] }, destinations: [] })
    expect(harness.take(observed('ann', 0, 'true', 'partial'))).toEqual(['unknown_audience'])
    expect(harness.take(ended(0))).toEqual(['unknown_audience'])
  })
  it('a sync that a newer one cancelled or closed', () => {
    harness.take(observed('ann', 5))
    expect(harness.take(observed('bob', 4))).toEqual(['sync_cancelled'])
    expect(harness.take(ended(4))).toEqual(['sync_cancelled'])
    harness.take(ended(5))
    expect(harness.take(observed('bob', 4, 'true', 'partial'))).toEqual(['sync_closed'])
    expect(harness.take(ended(5))).toEqual(['sync_closed'])
  })
  it('a user who was deleted after the start of the list, or is suppressed', () => {
    harness.marks.apply('ann', [{ source: undefined, deletedAt: epochMs(start + 60_000), isSuppressed: false }])
    harness.marks.apply('bob', [{ source: undefined, deletedAt: start, isSuppressed: true }])
    expect(harness.take(observed('ann', 1, 'true', 'partial'))).toEqual(['user_deleted'])
    expect(harness.take(observed('ann', 2, 'true', 'partial'), 5)).toHaveLength(2)
    expect(harness.take(observed('bob', 9, 'true', 'partial'), 9)).toEqual(['suppressed'])
    expect(harness.take(outcome('bob', sync(9)))).toEqual(['user_deleted'])
  })
})
