import { describe, expect, it } from '@jest/globals'
import { Semaphore } from '../../../../src/core/collections/semaphore.ts'
import { turns } from '../../../support/manual-clock.ts'

describe('operations in flight', () => {
  it('are limited, and the next starts when one ends', async () => {
    const inFlight = new Semaphore(2)
    const begun: number[] = []
    for (const each of [1, 2, 3, 4, 5]) void inFlight.acquire().then(() => begun.push(each))
    await turns()
    expect(begun).toEqual([1, 2])
    inFlight.release()
    await turns()
    expect(begun).toEqual([1, 2, 3])
    inFlight.release()
    inFlight.release()
    await turns()
    expect(begun).toEqual([1, 2, 3, 4, 5])
  })

  it('begin in the order of the calls, also when an operation is added directly after a release', async () => {
    const inFlight = new Semaphore(1)
    const begun: string[] = []
    const begin = (name: string): unknown => inFlight.acquire().then(() => begun.push(name))
    for (const name of ['a', 'b', 'c']) begin(name)
    inFlight.release()
    begin('d')
    await turns()
    expect(begun).toEqual(['a', 'b'])
  })

  it('are awaited until all have ended', async () => {
    const inFlight = new Semaphore(2)
    await inFlight.drained()
    await inFlight.acquire()
    await inFlight.acquire()
    let isDrained = false
    void inFlight.drained().then(() => (isDrained = true))
    inFlight.release()
    await turns()
    expect(isDrained).toBe(false)
    inFlight.release()
    await turns()
    expect(isDrained).toBe(true)
  })
})
