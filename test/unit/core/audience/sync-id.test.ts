import { describe, expect, it } from '@jest/globals'
import { newSyncId, syncBegan } from '../../../../src/core/audience/sync-id.ts'
import { epochMs } from '../../../../src/core/time.ts'

const now = epochMs(Date.parse('2026-11-21T08:00:00Z'))

describe('sync ids', () => {
  it('contain the start time of the sync', () => {
    expect(syncBegan(newSyncId(now, 'a'))).toBe(now)
  })
  it('are ordered by time', () => {
    expect(newSyncId(epochMs(now + 1), 'a')).toBeGreaterThan(newSyncId(now, 'b'))
  })
  it('of two writers in one millisecond differ, and are the same for the same unique text', () => {
    expect(newSyncId(now, 'a')).not.toBe(newSyncId(now, 'b'))
    expect(newSyncId(now, 'a')).toBe(newSyncId(now, 'a'))
  })
  it('survive Avro until 2100', () => {
    expect(newSyncId(epochMs(Date.parse('2100-01-01T00:00:00Z')), 'a')).toBeLessThan(2 ** 52)
  })
})
