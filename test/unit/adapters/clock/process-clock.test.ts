import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { systemClock } from '../../../../src/adapters/clock/process-clock.ts'

const hour = 3_600_000

afterEach(() => void jest.restoreAllMocks())

describe('the clock of the process', () => {
  it.each([hour, -hour])('does not follow the machine’s clock when that is set by %d ms', step => {
    const [before, monotonic] = [systemClock.now(), systemClock.monotonic()]
    const real = Date.now
    jest.spyOn(Date, 'now').mockImplementation(() => real() + step)
    const passed = systemClock.monotonic() - monotonic
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(Math.floor(passed))
    expect(systemClock.now() - before).toBeLessThan(hour / 2)
  })

  it('equals the machine’s clock when that is not set', () => {
    const before = Date.now()
    const now = systemClock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })
})
