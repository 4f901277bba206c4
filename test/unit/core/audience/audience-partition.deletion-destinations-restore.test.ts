import { beforeEach, describe, expect, it } from '@jest/globals'
import { emptyWatermark } from '../../../../src/core/audience/audience-watermark.ts'
import { audienceDirectory } from '../../../../src/core/audience/configured-audiences.ts'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import {
  membershipKey,
  toMembershipRecord,
  toWatermarkRecord,
  watermarkKey,
} from '../../../../src/core/audience/membership-and-watermark-records.ts'
import {
  audience,
  directoryWith,
  ended,
  observed,
  outcome,
  PartitionHarness,
  sync,
} from '../../../support/audience/partition-harness.ts'
import { start } from '../../../support/builders.ts'

let harness: PartitionHarness
beforeEach(() => {
  harness = new PartitionHarness()
})

describe('a deleted user is forgotten', () => {
  const forgotten: AudienceInput = { kind: 'forgotten', userId: 'ann' }
  it('at every destination, without a message, after the watermark that contains their versions', () => {
    harness.apply(observed('ann', 0))
    expect(harness.apply(forgotten)).toEqual([
      expect.stringMatching(`^watermark .* ${sync(1) + 1 - sync(0)}$`),
      'ann crm gone',
      'ann erp gone',
    ])
    expect(harness.apply(forgotten)).toEqual([])
    expect(harness.partition.size().members).toBe(0)
  })
  it('and returns with a new version', () => {
    // All inputs have the same time, because a later time alone would give the membership a new
    // version.
    harness.apply(observed('ann', 0, 'true', 'partial'))
    harness.apply(forgotten, 0)
    harness.apply(observed('ann', 0, 'false', 'partial'), 0)
    const [change] = harness.changes(observed('ann', 0, 'true', 'partial'))
    expect(change).toMatchObject({ state: { version: sync(1) + 3 } })
  })
  it('and gets no message for an input that was appended after the start of the deletion', () => {
    harness.apply(observed('ann', 0))
    harness.apply(observed('ann', 1, 'false', 'partial'))
    harness.marks.apply('ann', [{ source: undefined, deletedAt: harness.now, isSuppressed: false }])
    const undelivered = { ...outcome('ann', sync(1) + 1), result: 'undelivered' } as AudienceInput
    expect(harness.apply(undelivered)).toEqual(['ann crm false'])
    expect(harness.apply(ended(3))).toEqual([expect.stringMatching(/^watermark 3 /)])
    expect(harness.apply(forgotten)).toEqual(['ann crm gone', 'ann erp gone'])
  })
  it('and gets messages again after a later sync has listed the user', () => {
    harness.marks.apply('ann', [{ source: undefined, deletedAt: start, isSuppressed: false }])
    harness.apply(observed('ann', 1))
    harness.apply(outcome('ann', sync(1) + 1))
    expect(harness.apply(ended(2))).toContainEqual('ann crm false {"first_time_shopper":false}')
  })
  it('a repeated input of the earlier membership does not change the new one', () => {
    harness.apply(observed('ann', 0))
    harness.position = 7
    harness.apply(observed('ann', 1, 'false', 'partial'))
    harness.position = 3
    expect(harness.apply(forgotten)).toEqual([])
  })
})

describe('the list of destinations', () => {
  it('a destination that joins gets all values with the next sync', () => {
    harness.directory = directoryWith(['crm'])
    harness.apply(observed('ann', 0))
    harness.apply(outcome('ann', sync(0) + 1))
    harness.directory = directoryWith(['crm', 'erp'])
    expect(harness.apply(observed('ann', 1)).slice(1)).toEqual([
      'ann crm true',
      'ann erp true {"first_time_shopper":true}',
    ])
  })
  it('a destination that left gets nothing, not even at the end of a sync', () => {
    harness.apply(observed('ann', 0))
    harness.directory = directoryWith(['erp'])
    expect(harness.apply(observed('ann', 1)).slice(1)).toEqual(['ann erp true'])
    expect(harness.apply(ended(2))).toEqual(['ann erp false', expect.stringMatching(/^watermark/)])
  })
  /** Handles ann's line of sync 1 while the audience does not list the destination crm. */
  const missOneLine = (): void => {
    harness.apply(observed('ann', 0))
    harness.apply(outcome('ann', sync(0) + 1))
    harness.directory = directoryWith(['erp'])
    harness.apply(observed('ann', 1))
    harness.directory = directoryWith(['crm', 'erp'])
  }
  it('a destination that returns during a full sync keeps the members that the sync may have listed', () => {
    missOneLine()
    expect(harness.apply(ended(1))).toEqual([expect.stringMatching(/^watermark 1 /)])
    expect(harness.apply(ended(2))).toContain('ann crm false')
  })
  it('a reset ends this rule, so that a sync with a time in the future cannot extend it', () => {
    missOneLine()
    harness.apply({ kind: 'reset', audience, destination: undefined })
    expect(harness.apply(ended(1))).toContain('ann crm false')
  })
})

it('a sync removes nobody if an input was lost while its audience was missing from the configuration', () => {
  harness.apply(observed('ann', 0))
  harness.apply(ended(0))
  harness.apply(observed('bob', 1))
  harness.directory = audienceDirectory({ audiences: { emitPerSecond: 1, list: [] }, destinations: [] })
  expect(harness.apply({ kind: 'lost' })).toEqual([expect.stringMatching(/^watermark/)])
  harness.directory = directoryWith(['crm', 'erp'])
  expect(harness.apply(ended(1))).toEqual(['sync_cancelled'])
})

describe('restored from the topic', () => {
  const key = { audience, userId: 'ann', destination: 'crm' }
  const state = () => {
    harness.position = 50
    const [, change] = harness.changes(observed('ann', 0))
    if (change?.kind !== 'membership' || change.state === undefined) throw new Error('no state')
    return change.state
  }
  it('ignores inputs that it had processed, and processes later ones', () => {
    const [record, watermark] = [
      toMembershipRecord(state()),
      toWatermarkRecord({ ...emptyWatermark, cancelledBelow: sync(0), position: 50 }),
    ]
    harness.partition = harness.created()
    expect([harness.restore(membershipKey(key), record), harness.restore(watermarkKey(audience), watermark)]).toEqual([
      'taken',
      'taken',
    ])
    harness.directory = directoryWith(['crm'])
    harness.position = 50
    expect(harness.partition.mustRunAlone(observed('bob', 0), harness.now)).toBe(false)
    expect(harness.apply(observed('ann', 0))).toEqual([])
    expect(harness.apply(outcome('ann', sync(0) + 1))).toEqual(['ann crm true'])
  })
  it('the end of a sync that was stopped after its watermark removes the memberships, and is not stale', () => {
    harness.apply(observed('ann', 0, 'false'))
    const records = harness.changes(observed('bob', 0, 'false'))
    const context = { position: harness.position, at: harness.now, now: () => harness.now }
    const before = [...harness.partition.applyInput(ended(0), context)].slice(0, 1)
    harness.partition = harness.created()
    for (const effect of [...records, ...before]) {
      if (effect.kind === 'membership' && effect.state !== undefined)
        harness.restore(membershipKey(effect.key), toMembershipRecord(effect.state))
      if (effect.kind === 'watermark') harness.restore(watermarkKey(audience), toWatermarkRecord(effect.watermark))
    }
    expect(harness.apply(ended(0), 0)).toEqual(['bob crm gone', 'bob erp gone'])
    expect(harness.apply(ended(0), 0)).toEqual(['sync_closed'])
  })
  it('a tombstone removes a membership or watermark', () => {
    const record = toMembershipRecord(state())
    harness.partition = harness.created()
    harness.restore(membershipKey(key), record)
    expect(harness.partition.size().members).toBe(1)
    expect(harness.restore(membershipKey(key), undefined)).toBe('taken')
    harness.restore(watermarkKey(audience), toWatermarkRecord({ ...emptyWatermark, cancelledBelow: sync(9) }))
    harness.restore(watermarkKey(audience), undefined)
    expect(harness.partition.size().members).toBe(0)
    expect(harness.partition.mustRunAlone(observed('ann', 0), harness.now)).toBe(true)
  })
  it('processes all inputs when a record has a position of a deleted log', () => {
    const record = toMembershipRecord(state())
    harness.partition = harness.created(50)
    harness.restore(membershipKey(key), record)
    expect(harness.apply(outcome('ann', sync(0) + 1))).toEqual(['ann crm true'])
  })
  it.each([
    ['a key that is no list', 'x', toWatermarkRecord(emptyWatermark)],
    ['a watermark under the key of a membership', membershipKey(key), toWatermarkRecord(emptyWatermark)],
    [
      'a membership under the key of a watermark',
      watermarkKey(audience),
      { position: 0, membership: null, mark: null },
    ],
  ])('%s is none of ours', (_reason, given, record) => {
    expect(harness.restore(given, record)).toBe('unreadable')
  })
})
