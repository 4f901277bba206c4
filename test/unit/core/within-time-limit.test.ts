import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import { within } from '../../../src/core/within-time-limit.ts'
import { ManualClock } from '../../support/manual-clock.ts'

describe('within', () => {
  const limit = durationMs(1_000)
  const never = new Promise<never>(() => undefined)

  it('gives the result of the work', async () => {
    expect(await within(new ManualClock(), limit, Promise.resolve('done'), () => 'late')).toBe('done')
  })

  it('rejects as the work does', async () => {
    const failing = Promise.reject(new Error('failed'))
    await expect(within(new ManualClock(), limit, failing, () => 'late')).rejects.toThrow('failed')
  })

  it.each([
    ['a value', () => 'late'],
    ['a promise', async () => 'late'],
  ])('gives the other result after the time: %s', async (_, late) => {
    const clock = new ManualClock()
    const result = within(clock, limit, never, late)
    await clock.advance(1_000)
    expect(await result).toBe('late')
  })

  it('rejects after the time when the other result throws', async () => {
    const clock = new ManualClock()
    const result = within(clock, limit, never, () => {
      throw new Error('too late')
    })
    const rejected = expect(result).rejects.toThrow('too late')
    await clock.advance(1_000)
    await rejected
  })

  it('does not ask for the other result when the work ends in time', async () => {
    const clock = new ManualClock()
    let asked = 0
    await within(clock, limit, Promise.resolve(), () => asked++)
    await clock.advance(1_000)
    expect(asked).toBe(0)
  })
})
