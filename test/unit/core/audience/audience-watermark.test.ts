import { describe, expect, it } from '@jest/globals'
import {
  type AudienceWatermark,
  afterSyncCancellation,
  afterSyncEnd,
  afterSyncStart,
  afterUnreadInput,
  beginsSync,
  emptyWatermark,
  mustCancelSync,
  type SyncMode,
  staleReason,
  withRaisedFloor,
} from '../../../../src/core/audience/audience-watermark.ts'
import { newSyncId, syncId, versionAt } from '../../../../src/core/audience/sync-id.ts'
import { epochMs } from '../../../../src/core/time.ts'

const now = epochMs(Date.parse('2026-11-21T08:00:00Z'))
const day = 24 * 3_600_000
const watermarkOf = (given: Partial<Record<keyof AudienceWatermark, number>>): AudienceWatermark =>
  ({ ...emptyWatermark, ...given }) as AudienceWatermark
const part = (id: number, mode: SyncMode = 'full') => ({ syncId: syncId(id), mode })

describe('a record of a sync is stale', () => {
  it.each([
    ['no, while its full sync is the newest', {}, part(10), undefined],
    ['no, when its own sync has begun', { cancelledBelow: 10 }, part(10), undefined],
    ['when a newer full sync has begun', { cancelledBelow: 20 }, part(10), 'sync_cancelled'],
    ['no, for a partial sync when a newer full sync has begun', { cancelledBelow: 20 }, part(10, 'partial'), undefined],
    ['when a newer full sync has ended', { cancelledBelow: 20, closedUpTo: 20 }, part(10), 'sync_closed'],
    [
      'for a partial sync too, when a newer full sync has ended',
      { closedUpTo: 20 },
      part(10, 'partial'),
      'sync_closed',
    ],
    ['when its own sync has ended', { cancelledBelow: 10, closedUpTo: 10 }, part(10), 'sync_closed'],
    ['no, when only an older sync has ended', { cancelledBelow: 10, closedUpTo: 10 }, part(11), undefined],
  ])('%s', (_reason, watermark, sync, expected) => {
    expect(staleReason(watermarkOf(watermark), sync)).toBe(expected)
  })
})

describe('the watermark', () => {
  it('tracks the newest full sync, and no partial one', () => {
    expect(beginsSync(watermarkOf({ cancelledBelow: 10 }), part(20))).toBe(true)
    expect(beginsSync(watermarkOf({ cancelledBelow: 20 }), part(20))).toBe(false)
    expect(beginsSync(watermarkOf({ cancelledBelow: 10 }), part(20, 'partial'))).toBe(false)
    expect(afterSyncStart(watermarkOf({ cancelledBelow: 10, versionFloor: 3 }), part(20), 7)).toEqual(
      watermarkOf({ cancelledBelow: 20, versionFloor: 3, position: 7 }),
    )
  })
  it.each([
    ['the first input of a full sync', {}, part(10), true],
    ['a later input of a full sync', { cancelledBelow: 10 }, part(10), true],
    ['not an input of a partial sync', {}, part(10, 'partial'), false],
    ['not an input of a cancelled sync', { cancelledBelow: 11 }, part(10), false],
    ['not an input of an ended sync', { cancelledBelow: 10, closedUpTo: 10 }, part(10), false],
  ])('an ignored input cancels its sync: %s', (_reason, watermark, sync, expected) => {
    expect(mustCancelSync(watermarkOf(watermark), sync)).toBe(expected)
    if (!expected) return
    const after = afterSyncCancellation(watermarkOf({ versionFloor: 3, ...watermark }), sync, 7)
    expect(after).toEqual(watermarkOf({ ...watermark, versionFloor: 3, cancelledBelow: 11, position: 7 }))
    expect([staleReason(after, sync), mustCancelSync(after, sync)]).toEqual(['sync_cancelled', false])
    expect(beginsSync(after, part(12))).toBe(true)
  })
  it('keeps its position when inputs are lost that had lower offsets, as after a truncation', () => {
    const cancelledBelow = versionAt(epochMs(now + 60_000))
    expect(afterUnreadInput(watermarkOf({ position: 9 }), 7, now, epochMs(now + 1))).toEqual(
      watermarkOf({ cancelledBelow, position: 9 }),
    )
    expect(afterUnreadInput(watermarkOf({ position: 5 }), 7, now, epochMs(now + 1))).toEqual(
      watermarkOf({ cancelledBelow, position: 7 }),
    )
  })
  it('a full sync closes itself and all before, and every version so far', () => {
    expect(afterSyncEnd(watermarkOf({ cancelledBelow: 10 }), part(10), 7, now)).toEqual(
      watermarkOf({ cancelledBelow: 10, closedUpTo: 10, versionFloor: versionAt(now), position: 7 }),
    )
    const higher = versionAt(now) + 1
    expect(afterSyncEnd(watermarkOf({ versionFloor: higher }), part(10), 7, now)?.versionFloor).toBe(higher)
  })
  it('a partial sync closes syncs that began 7 days before, at most once a day', () => {
    const weekBefore = (now - 7 * day) * 1024
    const sync = part(newSyncId(now, 'a'), 'partial')
    expect(afterSyncEnd(emptyWatermark, sync, 7, now)).toMatchObject({
      closedUpTo: weekBefore,
      versionFloor: versionAt(now),
    })
    expect(afterSyncEnd(watermarkOf({ closedUpTo: weekBefore - day * 1024 }), sync, 7, now)).toMatchObject({
      closedUpTo: weekBefore,
    })
    expect(afterSyncEnd(watermarkOf({ closedUpTo: weekBefore - day * 1024 + 1 }), sync, 7, now)).toBeUndefined()
    expect(afterSyncEnd(watermarkOf({ closedUpTo: sync.syncId - 1 }), sync, 7, now)).toBeUndefined()
  })
  it('has a floor above the versions of forgotten memberships', () => {
    expect(withRaisedFloor(watermarkOf({ versionFloor: 5 }), 8, 7)).toEqual(
      watermarkOf({ versionFloor: 8, position: 7 }),
    )
    expect(withRaisedFloor(watermarkOf({ versionFloor: 8 }), 8, 7)).toBeUndefined()
  })
})
