import { describe, expect, it } from '@jest/globals'
import { type PermitHoldingTime, PermitHoldingTimes } from '../../../../src/core/flow/permit-holding-times.ts'

describe('PermitHoldingTimes', () => {
  /**
   * Runs rounds with one request per destination. Returns whether each destination counts as slow.
   */
  function slowOf(callMs: readonly number[], rounds = 5): readonly boolean[] {
    const permitTime = new PermitHoldingTimes()
    const times = callMs.map((): PermitHoldingTime => ({ meanMs: undefined, isSlow: false }))
    for (let round = 0; round < rounds; round++)
      for (const [index, time] of times.entries()) permitTime.ended(time, callMs[index] as number, round)
    return times.map(({ isSlow }) => isSlow)
  }

  it.each([
    ['a destination with at most 100 ms is never slow', [100, 5, 1], [false, false, false]],
    ['all are slow when all take long', [4_800, 4_800], [true, true]],
    ['a destination with an eighth of the permit time is not slow', [4_800, 4_800, 560], [true, true, false]],
    ['a destination with more permit time is slow', [4_800, 4_800, 800], [true, true, true]],
    [
      'fast destinations do not lower the typical time',
      [4_800, ...Array(20).fill(200)],
      [true, ...Array(20).fill(false)],
    ],
  ])('%s', (_name, callMs, expected) => {
    expect(slowOf(callMs)).toEqual(expected)
  })

  it('one slow request makes a fast destination slow for some requests', () => {
    const permitTime = new PermitHoldingTimes()
    const [slow, quick]: PermitHoldingTime[] = [
      { meanMs: undefined, isSlow: false },
      { meanMs: 5, isSlow: false },
    ]
    permitTime.ended(slow as PermitHoldingTime, 4_800, 0)
    permitTime.ended(quick as PermitHoldingTime, 4_800, 0)
    const isSlow: (boolean | undefined)[] = [quick?.isSlow]
    for (let call = 0; call < 3; call++) {
      permitTime.ended(quick as PermitHoldingTime, 5, 0)
      isSlow.push(quick?.isSlow)
    }
    expect(isSlow).toEqual([true, true, true, false])
  })

  it('forgets times older than two minutes', () => {
    const permitTime = new PermitHoldingTimes()
    const time: PermitHoldingTime = { meanMs: undefined, isSlow: false }
    const typical = [0, 60_000, 120_000, 300_000].map(now => {
      permitTime.ended(time, now === 0 ? 4_000 : 10, now)
      return Math.round(permitTime.durationWeightedMeanMs)
    })
    expect(typical).toEqual([4_000, 3_990, 10, 10])
    expect(new PermitHoldingTimes().durationWeightedMeanMs).toBe(0)
  })
})
