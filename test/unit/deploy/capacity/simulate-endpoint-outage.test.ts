import { describe, expect, it } from '@jest/globals'
import {
  type Outage,
  type OutageEffect,
  simulateOutage,
} from '../../../../deploy/tools/capacity/simulate-endpoint-outage.ts'

const window = { windowHours: 4 }
const minutes = (count: number): number => count / 60

describe('the course of an outage', () => {
  it.each<[string, Outage, Partial<OutageEffect>]>([
    [
      'none',
      { perSecond: 100, hours: 0, ...window },
      { waiting: 0, parked: 0, lastAfterMinutes: 0, maxRetryRecordsPerSecond: 0 },
    ],
    [
      'one second: in a retry topic once, due after ten',
      { perSecond: 100, hours: 1 / 3_600, ...window },
      { waiting: 100, parked: 100, lastAfterMinutes: 9 / 60, deadLettered: 0 },
    ],
    [
      // All events wait for 10 s. Those of the first ten seconds are due during the outage, and
      // wait again.
      'twenty seconds: half of them are in a retry topic twice',
      { perSecond: 1, hours: 20 / 3_600, ...window },
      { waiting: 20, parked: 30, lastAfterMinutes: 29 / 60 },
    ],
    [
      'no record waits longer than the longest deferral tier',
      { perSecond: 10, hours: 1, ...window },
      { waiting: 36_000, deadLettered: 0, lastAfterMinutes: expect.closeTo(5, 1) as unknown as number },
    ],
    [
      'longer than the window: only the last window of records is not dead-lettered',
      { perSecond: 10, hours: 6, ...window },
      { deadLettered: 72_000, waiting: 144_000 },
    ],
    ['a window of an hour', { perSecond: 10, hours: 2, windowHours: 1 }, { deadLettered: 36_000, waiting: 36_000 }],
  ])('%s', (_, outage, expected) => expect(simulateOutage(outage)).toMatchObject(expected))

  it('each record is waiting or dead-lettered', () => {
    const { waiting, deadLettered } = simulateOutage({ perSecond: 3, hours: 5.5, ...window })
    expect(waiting + deadLettered).toBe(3 * 5.5 * 3_600)
  })

  it('grows in proportion to the rate, and faster than the duration', () => {
    const [one, ten] = [1, 10].map(perSecond => simulateOutage({ perSecond, hours: 2, ...window }))
    expect(ten?.parked).toBe(10 * (one?.parked ?? 0))
    const each = [minutes(1), 0.5, 1, 2, 4].map(
      hours => simulateOutage({ perSecond: 1, hours, ...window }).parked / hours,
    )
    expect(each).toEqual(each.toSorted((a, b) => a - b))
  })

  it('each waiting record is released and written again once per longest deferral tier', () => {
    const { waiting, maxRetryRecordsPerSecond, maxReleasedPerSecond } = simulateOutage({
      perSecond: 100,
      hours: 3,
      ...window,
    })
    const eachFiveMinutes = waiting / 300
    for (const most of [maxRetryRecordsPerSecond, maxReleasedPerSecond])
      expect(most / eachFiveMinutes).toBeGreaterThan(0.97)
    expect(maxReleasedPerSecond / eachFiveMinutes).toBeLessThan(1.05)
  })
})
