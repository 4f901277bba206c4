import { beforeEach, describe, expect, it } from '@jest/globals'
import { emptyWatermark } from '../../../../src/core/audience/audience-watermark.ts'
import {
  type MembershipRecord,
  membershipKey,
  toWatermarkRecord,
  watermarkKey,
} from '../../../../src/core/audience/membership-and-watermark-records.ts'
import { PartitionRecords } from '../../../../src/core/audience/partition-memberships-and-watermarks.ts'

const ann = { audience: 'VIP', userId: 'ann', destination: 'crm' }
const key = membershipKey(ann)

/** The state after the input with the offset `position`. */
const state = (position: number, version = position): MembershipRecord => ({
  position,
  membership: { desired: 'true', acknowledged: 'true', version, syncId: 1, inFlight: null, doubt: null },
  mark: null,
})
const record = (value: MembershipRecord | undefined, position = value?.position) => ({ key, value, position })
const tombstone = (position?: number) => record(undefined, position)

let records: PartitionRecords
beforeEach(() => {
  records = new PartitionRecords(1_000)
})
const versionOf = (): number | undefined => records.members.get(ann)?.version

describe('a restore ignores a state that is older than one before it in the log', () => {
  it('a stale state after a newer one: the newer one is kept and written again', () => {
    expect([record(state(7)), record(state(3))].map(each => records.restore(each))).toEqual(['taken', 'stale'])
    expect(versionOf()).toBe(7)
    expect(records.endRestore()).toEqual([{ key, value: undefined, position: 7 }])
    expect(records.replacementOf(tombstone(7))).toMatchObject({ key: ann, state: { version: 7 }, position: 7 })
  })

  it('a stale state after a tombstone: it is dropped, and the tombstone is written again at its position', () => {
    const all = [record(state(5)), tombstone(7), record(state(5))]
    expect(all.map(each => records.restore(each))).toEqual(['taken', 'taken', 'stale'])
    expect(versionOf()).toBeUndefined()
    const [stale] = records.endRestore()
    expect(stale && records.replacementOf(stale)).toMatchObject({ state: undefined, position: 7 })
  })

  it('a stale tombstone removes nothing', () => {
    expect([record(state(7)), tombstone(3)].map(each => records.restore(each))).toEqual(['taken', 'stale'])
    expect(versionOf()).toBe(7)
  })

  it('a record that was written again is not stale', () => {
    for (const position of [7, 3, 7]) records.restore(record(state(position)))
    expect(records.endRestore()).toEqual([])
  })

  it('the last record of one input counts', () => {
    records.restore(record(state(7, 1)))
    records.restore(record(state(7, 2)))
    expect(versionOf()).toBe(2)
  })

  it('a tombstone of an earlier version, without a position, is valid', () => {
    records.restore(record(state(7)))
    expect(records.restore(tombstone())).toBe('taken')
    expect(versionOf()).toBeUndefined()
  })

  it('ignores a position beyond the end of the inputs, which is of a deleted log: no later record is stale', () => {
    for (const position of [5_000, 3]) expect(records.restore(record(state(position)))).toBe('taken')
    expect(versionOf()).toBe(3)
  })

  it.each([
    ['a state', state(7)],
    ['a tombstone', undefined],
  ])('%s of a user id that is too long for the table is unreadable, and the restore continues', (_what, value) => {
    const foreign = membershipKey({ ...ann, userId: 'u'.repeat(70_000) })
    expect(records.restore({ key: foreign, value, position: 7 })).toBe('unreadable')
    expect(records.applyLateRecord({ key: foreign, value, position: 7 }, () => true)).toBe('unreadable')
    expect(records.restore(record(state(7)))).toBe('taken')
  })

  it('a stale watermark after a newer one: the newer one is kept', () => {
    const watermark = (position: number, versionFloor: number) => {
      const value = toWatermarkRecord({ ...emptyWatermark, position, versionFloor })
      return { key: watermarkKey('VIP'), value, position }
    }
    expect([watermark(7, 20), watermark(3, 10)].map(each => records.restore(each))).toEqual(['taken', 'stale'])
    expect(records.watermarkOf('VIP').versionFloor).toBe(20)
  })
})

describe('a record that was not acknowledged to the owner', () => {
  const isDone = (position: number) => position < 10
  beforeEach(() => {
    records.restore(record(state(7)))
    records.endRestore()
  })

  it.each([
    ['an older state', record(state(3)), 'stale'],
    ['another state of an input that is done', record(state(8)), 'stale'],
    ['a tombstone of an input that is done', tombstone(8), 'stale'],
    ['a tombstone of an earlier version', tombstone(), 'stale'],
    ['the current state', record(state(7)), 'taken'],
  ])('%s: %s', (_what, found, expected) => {
    expect(records.applyLateRecord(found, isDone)).toBe(expected)
    expect(versionOf()).toBe(7)
  })

  it('is overwritten at a higher position', () => {
    expect(records.replacementOf(record(state(8)))).toMatchObject({ state: { version: 7, position: 8 }, position: 8 })
  })

  it('a state of a future input is accepted, as in a restore', () => {
    expect(records.applyLateRecord(record(state(12)), isDone)).toBe('taken')
    expect(versionOf()).toBe(12)
  })

  it('a state of a removed user is replaced by a tombstone', () => {
    records.members.put(ann, undefined)
    expect(records.applyLateRecord(record(state(7)), isDone)).toBe('stale')
    expect(records.replacementOf(record(state(7)))).toMatchObject({ state: undefined, position: 7 })
  })
})
