import { describe, expect, it } from '@jest/globals'
import { RecentChanges } from '../../../../src/core/config-objects/recent-changes.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'
import { objectRecord } from '../../../support/config-objects/example-objects.ts'

function changesOf(count: number): RecentChanges {
  const changes = new RecentChanges()
  for (let index = 0; index < count; index++)
    changes.add(objectRecord({ version: index + 1, at: epochMs(start + index) }))
  return changes
}

describe('the recent changes', () => {
  it.each([
    ['all of 1,000', 1_000, undefined, 1_000, false],
    ['of 1,001', 1_001, undefined, 1_000, true],
    ['of 2,000, of which half is dropped', 2_000, undefined, 1_000, true],
    ['of 2,000 since a time before a dropped change', 2_000, 999, 1_000, true],
    ['of 2,000 since a time after the dropped changes', 2_000, 1_000, 1_000, false],
    ['of 2,500 since a time with 1,001 later changes', 2_500, 1_499, 1_000, true],
    ['of 2,500 since a time with 1,000 later changes', 2_500, 1_500, 1_000, false],
    ['of 2,500 since the last one', 2_500, 2_499, 1, false],
    ['of 3,000 since the last change that was dropped', 3_000, 1_999, 1_000, true],
    ['of 3,000 since a time after all dropped changes', 3_000, 2_000, 1_000, false],
  ])('%s say whether older ones are missing', (_, count, since, length, isPartial) => {
    const found = changesOf(count).since(since === undefined ? undefined : start + since)
    expect([found.changes.length, found.isPartial]).toEqual([length, isPartial])
    expect(found.changes[0]?.version).toBe(count)
  })

  it('do not have the versions of a rotation of the encryption key', () => {
    const changes = changesOf(1)
    for (let version = 2; version < 1_500; version++)
      changes.add(objectRecord({ version, action: 'updated', by: 'hookline.key-rotation' }))
    changes.add(objectRecord({ version: 1_500, action: 'updated', fields: ['paused'] }))
    expect(changes.since()).toMatchObject({ changes: [{ version: 1_500 }, { version: 1 }], isPartial: false })
  })
})
