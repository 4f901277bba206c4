import { describe, expect, it } from '@jest/globals'
import { SlowDown } from '../../../../src/core/flow/slow-down-after-429.ts'

const second = 1_000

/** A destination with `perSecond` deliveries in each second from 0 s to 10 s. */
function steady(perSecond: number): SlowDown {
  const slowDown = new SlowDown()
  for (let count = 1; count <= 10 * perSecond; count++) slowDown.delivered((count * second) / perSecond)
  return slowDown
}

/** Starts at most one attempt in each ms, and delivers it immediately. Returns their number. */
function deliverAll(slowDown: SlowDown, from: number, until: number): number {
  let count = 0
  for (let now = from; now < until; now++) {
    if (slowDown.msToWait(now) > 0) continue
    slowDown.started()
    slowDown.delivered(now)
    count++
  }
  return count
}

describe('without a 429', () => {
  it('nothing waits', () => {
    const slowDown = steady(100)
    expect([slowDown.isActive, slowDown.paceAt(10 * second), slowDown.msToWait(10 * second)]).toEqual([
      false,
      undefined,
      0,
    ])
  })
})

it('an endpoint counts as working for five minutes after a delivered attempt', () => {
  const slowDown = new SlowDown()
  slowDown.delivered(0)
  expect(slowDown.hasRecentDeliveryOrPause(299 * second)).toBe(true)
  expect(slowDown.hasRecentDeliveryOrPause(300 * second)).toBe(false)
})

it('an endpoint without a delivered attempt may work for five minutes after its first pause began', () => {
  const slowDown = new SlowDown()
  slowDown.pause(60 * second, 10 * second)
  slowDown.pause(60 * second, 70 * second)
  expect(slowDown.hasRecentDeliveryOrPause(309 * second)).toBe(true)
  expect(slowDown.hasRecentDeliveryOrPause(310 * second)).toBe(false)
})

describe('the first 429', () => {
  it('sets the pace to the rate of delivered attempts', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    expect(slowDown.paceAt(10 * second)).toBeCloseTo(100, 0)
  })

  it('sets a pace of one attempt per second when nothing was delivered', () => {
    const slowDown = new SlowDown()
    slowDown.refused(0, 50)
    expect(slowDown.paceAt(50)).toBe(1)
    expect(slowDown.msToWait(50)).toBe(1_000)
  })

  it('counts deliveries of requests that were in progress', () => {
    const slowDown = new SlowDown()
    slowDown.refused(0, 50)
    for (let count = 0; count < 20; count++) slowDown.delivered(60)
    expect(slowDown.paceAt(60)).toBeCloseTo(20, 0)
  })
})

describe('further 429', () => {
  it.each([
    ['by 5 % when the endpoint accepted nearly everything', 100, 95],
    ['to the rate of delivered attempts', 80, 81],
    ['by half at most', 10, 50],
  ])('lower the pace %s', (_, deliveredPerSecond, pace) => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    for (let count = 1; count <= 10 * deliveredPerSecond; count++)
      slowDown.delivered(10_200 + (count * second) / deliveredPerSecond)
    slowDown.refused(20_200, 20_200)
    expect(Math.round(slowDown.paceAt(20_200) ?? 0)).toBe(pace)
  })

  it('change nothing when their attempt started before the last 429', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    slowDown.refused(10 * second - 1, 15 * second)
    expect(slowDown.paceAt(15 * second)).toBeCloseTo(100, 0)
    expect(slowDown.msPaused(15 * second)).toBe(0)
  })

  it('lower the pace once a second', () => {
    const slowDown = steady(100)
    for (const at of [10_000, 10_200, 10_500, 10_900]) slowDown.refused(at, at)
    expect(slowDown.paceAt(10_900)).toBeCloseTo(100, 0)
    slowDown.refused(11_900, 11_900)
    expect(slowDown.paceAt(11_900)).toBeLessThan(96)
  })

  it('double the pause of 100 ms up to a second, until a delivery', () => {
    const slowDown = new SlowDown()
    const pauses: number[] = []
    for (let now = 10_000; now < 16_000; now += second) {
      slowDown.refused(now, now)
      pauses.push(slowDown.msPaused(now))
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000])
    slowDown.delivered(16_500)
    slowDown.refused(17_000, 17_000)
    expect(slowDown.msPaused(17_000)).toBe(100)
  })

  it('never lower the pace below one attempt in ten seconds', () => {
    const slowDown = new SlowDown()
    for (let now = 0; now < 60_000; now += second) slowDown.refused(now, now)
    expect(slowDown.paceAt(60_000)).toBe(0.1)
  })
})

describe('the pace', () => {
  it('spreads attempts evenly', () => {
    const slowDown = steady(10)
    slowDown.refused(10 * second, 10 * second)
    const pace = slowDown.paceAt(10 * second) ?? 0
    expect(deliverAll(slowDown, 12 * second, 22 * second)).toBeCloseTo(10 * pace, -1)
  })

  it('is constant for 20 s, and then grows ever faster while deliveries wait for it', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    const counts = [12, 22, 32, 42].map(from => deliverAll(slowDown, from * second, (from + 10) * second))
    expect(counts[0]).toBeLessThanOrEqual(1_020)
    expect((counts[2] as number) / (counts[1] as number)).toBeGreaterThan(1.1)
    expect((counts[3] as number) / (counts[2] as number)).toBeGreaterThan(2)
  })

  it('does not grow while fewer deliveries come than it permits', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    for (let now = 12 * second; now < 70 * second; now += 100) {
      if (slowDown.msToWait(now) > 0) continue
      slowDown.started()
      slowDown.delivered(now)
    }
    expect(slowDown.paceAt(70 * second)).toBeCloseTo(100, 0)
  })

  it('changes with the part of the partitions that the process owns', () => {
    const slowDown = steady(100)
    slowDown.setPart(0.5, 0)
    slowDown.refused(10 * second, 10 * second)
    const paces = [0.25, 0, 1].map(part => {
      slowDown.setPart(part, 11 * second)
      return Math.round(slowDown.paceAt(11 * second) ?? 0)
    })
    expect(paces).toEqual([50, 50, 201])
  })

  it('ends ten minutes after the last 429', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    expect(slowDown.paceAt(609_999)).toBeDefined()
    expect(slowDown.msToWait(610_000)).toBe(0)
    expect(slowDown.isActive).toBe(false)
  })
})

it('a low pace that has ended does not lower the first pace after the next 429', () => {
  const slowDown = new SlowDown()
  let now = 0
  for (let attempt = 0; attempt < 60; attempt++) {
    now += 10 * second
    if (slowDown.msToWait(now) > 0) continue
    slowDown.started()
    slowDown.refused(now, now)
  }
  now += 3_600 * second
  for (let attempt = 0; attempt < 1_000; attempt++) {
    now += 5
    slowDown.msToWait(now)
    slowDown.started()
    slowDown.delivered(now)
  }
  slowDown.refused(now, now)
  expect(slowDown.paceAt(now)).toBeGreaterThan(150)
})

describe('Retry-After', () => {
  it.each([
    ['a pause of the given time', [8_000], 8_000],
    ['at most five minutes', [3_600_000], 300_000],
    ['the latest of several', [8_000, 2_000], 8_000],
  ])('%s', (_, waits, pausedMs) => {
    const slowDown = new SlowDown()
    for (const wait of waits) slowDown.pause(wait, second)
    expect(slowDown.msPaused(second)).toBe(pausedMs)
    expect(slowDown.msToWait(second)).toBe(pausedMs)
    expect(slowDown.msToWait(second + pausedMs)).toBe(0)
    expect(slowDown.isActive).toBe(false)
  })

  it('does not lower the measured rate of delivered attempts', () => {
    const slowDown = steady(100)
    slowDown.refused(10 * second, 10 * second)
    slowDown.pause(60 * second, 10 * second)
    slowDown.refused(70 * second, 70 * second)
    expect(slowDown.paceAt(70 * second)).toBeCloseTo(95, 0)
  })
})
