import { describe, expect, it } from '@jest/globals'
import { paced } from '../../../../src/app/produce/pace.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

/** Runs the generator on a manual clock; tells how many numbers had come after each step. */
function start(given: { count: number; perSecond: number | undefined }) {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const seen: number[] = []
  const ended = (async () => {
    for await (const number of paced(given, clock, stopping.signal)) seen.push(number)
  })()
  const settle = () => new Promise<void>(resolve => setImmediate(resolve))
  return { clock, stopping, seen, ended, settle }
}

describe('paced', () => {
  it('gives everything at once without a rate', async () => {
    const { seen, ended, clock } = start({ count: 5, perSecond: undefined })
    await ended
    expect(seen).toEqual([0, 1, 2, 3, 4])
    expect(clock.timers).toBe(0)
  })

  it('gives each number when it is due', async () => {
    const { seen, ended, clock, settle } = start({ count: 5, perSecond: 4 })
    await settle()
    expect(seen).toEqual([0])
    await clock.advance(249, settle)
    expect(seen).toEqual([0])
    await clock.advance(1, settle)
    expect(seen).toEqual([0, 1])
    await clock.advance(750, settle)
    expect(seen).toEqual([0, 1, 2, 3, 4])
    await ended
  })

  it('makes up for time that was lost', async () => {
    const clock = new ManualClock()
    const numbers = paced({ count: 10, perSecond: 10 }, clock, new AbortController().signal)
    await numbers.next()
    await clock.advance(500)
    const seen = []
    for (let taken = 0; taken < 5; taken++) seen.push((await numbers.next()).value)
    expect(seen).toEqual([1, 2, 3, 4, 5])
    expect(clock.timers).toBe(0)
  })

  it('ends at once when it is stopped', async () => {
    const { seen, ended, clock, stopping, settle } = start({ count: Number.POSITIVE_INFINITY, perSecond: 1 })
    await settle()
    stopping.abort()
    await ended
    expect(seen).toEqual([0])
    expect(clock.timers).toBe(0)
  })
})
