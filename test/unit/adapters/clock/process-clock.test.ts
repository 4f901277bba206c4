import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'

const hour = 3_600_000

afterEach(() => void jest.restoreAllMocks())

describe('the clock of the process', () => {
  it.each([hour, -hour])('does not follow the machine’s clock when that is set by %d ms', step => {
    const [before, monotonic] = [processClock.now(), processClock.monotonic()]
    const real = Date.now
    jest.spyOn(Date, 'now').mockImplementation(() => real() + step)
    const passed = processClock.monotonic() - monotonic
    expect(processClock.now() - before).toBeGreaterThanOrEqual(Math.floor(passed))
    expect(processClock.now() - before).toBeLessThan(hour / 2)
  })

  it('equals the machine’s clock when that is not set', () => {
    const before = Date.now()
    const now = processClock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })
})
