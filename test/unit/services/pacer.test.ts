import { describe, expect, it } from '@jest/globals'
import { createPacer, paced } from '../../../src/services/pacer.ts'
import { ManualClock, turns } from '../../support/manual-clock.ts'

/** Calls the pacer in a loop. Returns the time at which each call resolved, in ms. */
function taking(perSecond: number | undefined, count: number) {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const turn = createPacer(clock, perSecond, stopping.signal)
  const times: number[] = []
  const ended = (async () => {
    for (let taken = 0; taken < count; taken++) {
      await turn()
      times.push(clock.monotonic())
    }
  })()
  return { clock, stopping, turn, times, ended }
}

describe('createPacer', () => {
  it('resolves immediately without a rate', async () => {
    const { times, ended, clock } = taking(undefined, 5)
    await ended
    expect(times).toEqual([0, 0, 0, 0, 0])
    expect(clock.timers).toBe(0)
  })

  it('resolves evenly, the first time immediately', async () => {
    const { times, ended, clock } = taking(4, 5)
    await clock.advance(1_000, turns)
    await ended
    expect(times).toEqual([0, 250, 500, 750, 1_000])
  })

  it('keeps the rate when each call is late', async () => {
    const clock = new ManualClock()
    const turn = createPacer(clock, 100, new AbortController().signal)
    for (let taken = 0; taken < 100; taken++) {
      const due = turn()
      // Each call continues 3 ms after the time at which it was due.
      await clock.advance(taken === 0 ? 0 : 13 - (clock.monotonic() % 10), turns)
      await due
    }
    expect(clock.monotonic()).toBeLessThan(1_010)
  })

  it('allows no burst after a pause', async () => {
    const { turn, clock, ended } = taking(100, 1)
    await ended
    await clock.advance(60_000)
    const times: number[] = []
    const more = (async () => {
      for (let taken = 0; taken < 30; taken++) {
        await turn()
        times.push(clock.monotonic() - 60_000)
      }
    })()
    await clock.advance(1_000, turns)
    await more
    expect(times.filter(time => time === 0)).toHaveLength(11)
    expect(times.at(-1)).toBe(190)
  })

  it('resolves immediately after it is stopped', async () => {
    const { stopping, ended, clock, times } = taking(1, 3)
    await turns()
    expect(times).toEqual([0])
    stopping.abort()
    await ended
    expect(clock.timers).toBe(0)
  })
})

function start(given: { count: number; perSecond: number | undefined }) {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const seen: number[] = []
  const ended = (async () => {
    for await (const number of paced(given, clock, stopping.signal)) seen.push(number)
  })()
  return { clock, stopping, seen, ended }
}

describe('paced', () => {
  it('yields everything immediately without a rate', async () => {
    const { seen, ended, clock } = start({ count: 5, perSecond: undefined })
    await ended
    expect(seen).toEqual([0, 1, 2, 3, 4])
    expect(clock.timers).toBe(0)
  })

  it('yields each number when it is due', async () => {
    const { seen, ended, clock } = start({ count: 5, perSecond: 4 })
    await turns()
    expect(seen).toEqual([0])
    await clock.advance(249, turns)
    expect(seen).toEqual([0])
    await clock.advance(1, turns)
    expect(seen).toEqual([0, 1])
    await clock.advance(750, turns)
    expect(seen).toEqual([0, 1, 2, 3, 4])
    await ended
  })

  it('makes up for lost time', async () => {
    const clock = new ManualClock()
    const numbers = paced({ count: 10, perSecond: 10 }, clock, new AbortController().signal)
    await numbers.next()
    await clock.advance(500)
    const seen = []
    for (let taken = 0; taken < 5; taken++) seen.push((await numbers.next()).value)
    expect(seen).toEqual([1, 2, 3, 4, 5])
    expect(clock.timers).toBe(0)
  })

  it('ends immediately when it is stopped', async () => {
    const { seen, ended, clock, stopping } = start({ count: Number.POSITIVE_INFINITY, perSecond: 1 })
    await turns()
    stopping.abort()
    await ended
    expect(seen).toEqual([0])
    expect(clock.timers).toBe(0)
  })
})
