import { describe, expect, it } from '@jest/globals'
import { newSyncId, syncId, versionAt } from '../../../../src/core/audience/sync-id.ts'
import {
  type AudienceWatermark,
  afterLostInput,
  afterSyncEnd,
  afterSyncStart,
  afterUnreadInput,
  beginsSync,
  emptyWatermark,
  isLostInputFatal,
  type SyncMode,
  staleReason,
  withRaisedFloor,
} from '../../../../src/core/audience/sync-watermark.ts'
import { epochMs } from '../../../../src/core/time.ts'

const now = epochMs(Date.parse('2026-11-21T08:00:00Z'))
const day = 24 * 3_600_000
const markOf = (given: Partial<Record<keyof AudienceWatermark, number>>): AudienceWatermark =>
  ({ ...emptyWatermark, ...given }) as AudienceWatermark
const part = (id: number, mode: SyncMode = 'full') => ({ syncId: syncId(id), mode })

describe('a record of a sync is stale', () => {
  it.each([
    ['no, while its full sync is the newest', {}, part(10), undefined],
    ['no, when its own sync has begun', { begun: 10 }, part(10), undefined],
    ['when a newer full sync has begun', { begun: 20 }, part(10), 'sync_cancelled'],
    ['no, for a partial sync when a newer full sync has begun', { begun: 20 }, part(10, 'partial'), undefined],
    ['when a newer full sync has ended', { begun: 20, closed: 20 }, part(10), 'sync_closed'],
    ['for a partial sync too, when a newer full sync has ended', { closed: 20 }, part(10, 'partial'), 'sync_closed'],
    ['when its own sync has ended', { begun: 10, closed: 10 }, part(10), 'sync_closed'],
    ['no, when only an older sync has ended', { begun: 10, closed: 10 }, part(11), undefined],
  ])('%s', (_reason, mark, sync, expected) => {
    expect(staleReason(markOf(mark), sync)).toBe(expected)
  })
})

describe('the watermark', () => {
  it('tracks the newest full sync, and no partial one', () => {
    expect(beginsSync(markOf({ begun: 10 }), part(20))).toBe(true)
    expect(beginsSync(markOf({ begun: 20 }), part(20))).toBe(false)
    expect(beginsSync(markOf({ begun: 10 }), part(20, 'partial'))).toBe(false)
    expect(afterSyncStart(markOf({ begun: 10, floor: 3 }), part(20), 7)).toEqual(
      markOf({ begun: 20, floor: 3, position: 7 }),
    )
  })
  it.each([
    ['the first input of a full sync', {}, part(10), true],
    ['a later input of a full sync', { begun: 10 }, part(10), true],
    ['not an input of a partial sync', {}, part(10, 'partial'), false],
    ['not an input of a cancelled sync', { begun: 11 }, part(10), false],
    ['not an input of an ended sync', { begun: 10, closed: 10 }, part(10), false],
  ])('a lost input cancels its sync: %s', (_reason, mark, sync, expected) => {
    expect(isLostInputFatal(markOf(mark), sync)).toBe(expected)
    if (!expected) return
    const after = afterLostInput(markOf({ floor: 3, ...mark }), sync, 7)
    expect(after).toEqual(markOf({ ...mark, floor: 3, begun: 11, position: 7 }))
    expect([staleReason(after, sync), isLostInputFatal(after, sync)]).toEqual(['sync_cancelled', false])
    expect(beginsSync(after, part(12))).toBe(true)
  })
  it('keeps its position when inputs are lost that had lower offsets, as after a truncation', () => {
    const begun = versionAt(epochMs(now + 60_000))
    expect(afterUnreadInput(markOf({ position: 9 }), 7, now, epochMs(now + 1))).toEqual(markOf({ begun, position: 9 }))
    expect(afterUnreadInput(markOf({ position: 5 }), 7, now, epochMs(now + 1))).toEqual(markOf({ begun, position: 7 }))
  })
  it('a full sync closes itself and all before, and every version so far', () => {
    expect(afterSyncEnd(markOf({ begun: 10 }), part(10), 7, now)).toEqual(
      markOf({ begun: 10, closed: 10, floor: versionAt(now), position: 7 }),
    )
    const higher = versionAt(now) + 1
    expect(afterSyncEnd(markOf({ floor: higher }), part(10), 7, now)?.floor).toBe(higher)
  })
  it('a partial sync closes syncs that began 7 days before, at most once a day', () => {
    const weekBefore = (now - 7 * day) * 1024
    const sync = part(newSyncId(now, 'a'), 'partial')
    expect(afterSyncEnd(emptyWatermark, sync, 7, now)).toMatchObject({ closed: weekBefore, floor: versionAt(now) })
    expect(afterSyncEnd(markOf({ closed: weekBefore - day * 1024 }), sync, 7, now)).toMatchObject({
      closed: weekBefore,
    })
    expect(afterSyncEnd(markOf({ closed: weekBefore - day * 1024 + 1 }), sync, 7, now)).toBeUndefined()
    expect(afterSyncEnd(markOf({ closed: sync.syncId - 1 }), sync, 7, now)).toBeUndefined()
  })
  it('has a floor above the versions of forgotten memberships', () => {
    expect(withRaisedFloor(markOf({ floor: 5 }), 8, 7)).toEqual(markOf({ floor: 8, position: 7 }))
    expect(withRaisedFloor(markOf({ floor: 8 }), 8, 7)).toBeUndefined()
  })
})
