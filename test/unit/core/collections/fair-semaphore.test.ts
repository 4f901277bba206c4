import { describe, expect, it } from '@jest/globals'
import { FairSemaphore, type PermitRequest } from '../../../../src/core/collections/fair-semaphore.ts'

/**
 * `begun` has the names of the requests that have begun. In the name `a1:2`, `a` is the group, and
 * 2 the cost.
 */
function withPermits(permits: number) {
  const semaphore = new FairSemaphore(permits)
  const begun: string[] = []
  function acquire(call: string): PermitRequest {
    const [name = '', cost = '1'] = call.split(':')
    const request: PermitRequest = {
      group: name.slice(0, 1),
      cost: Number(cost),
      begin: () => void begun.push(name),
      before: undefined,
      after: undefined,
    }
    semaphore.acquire(request)
    return request
  }
  return { semaphore, begun, acquire }
}

describe('FairSemaphore', () => {
  it.each([
    ['callers of one group in the order of their calls', 'a1 a2:9 a3 a4', 'a1 a2 a3 a4'],
    ['groups with equal costs in turn', 'a1 a2 a3 a4 b1 b2 c1', 'a1 a2 b1 c1 a3 b2 a4'],
    ['a new group before the further callers of another', 'a1 a2 a3 b1', 'a1 a2 b1 a3'],
    ['several cheap callers before an expensive one', 'a1 a2:3 a3:3 b1 b2 b3 b4', 'a1 b1 b2 a2 b3 b4 a3'],
  ])('gives released permits to %s', (_, calls, expected) => {
    const { semaphore, begun, acquire } = withPermits(1)
    for (const name of calls.split(' ')) acquire(name)
    for (let released = 0; released < 10; released += 1) if (begun.length > released) semaphore.release()
    expect(begun.join(' ')).toBe(expected)
  })
})
