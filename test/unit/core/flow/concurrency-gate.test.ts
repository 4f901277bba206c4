import { describe, expect, it } from '@jest/globals'
import { ConcurrencyGate } from '../../../../src/core/flow/concurrency-gate.ts'

const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('operations in flight', () => {
  it('are limited, and the next starts when one ends', async () => {
    const inFlight = new ConcurrencyGate(2)
    const begun: number[] = []
    for (const each of [1, 2, 3, 4, 5]) void inFlight.begin().then(() => begun.push(each))
    await settle()
    expect(begun).toEqual([1, 2])
    inFlight.ended()
    await settle()
    expect(begun).toEqual([1, 2, 3])
    inFlight.ended()
    inFlight.ended()
    await settle()
    expect(begun).toEqual([1, 2, 3, 4, 5])
  })

  it('are awaited until all have ended', async () => {
    const inFlight = new ConcurrencyGate(2)
    await inFlight.drained()
    await inFlight.begin()
    await inFlight.begin()
    let isDrained = false
    void inFlight.drained().then(() => (isDrained = true))
    inFlight.ended()
    await settle()
    expect(isDrained).toBe(false)
    inFlight.ended()
    await settle()
    expect(isDrained).toBe(true)
  })
})
