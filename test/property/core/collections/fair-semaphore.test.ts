import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { FairSemaphore, type PermitRequest } from '../../../../src/core/collections/fair-semaphore.ts'

const permits = 3
const group = fc.constantFrom('a', 'b', 'c', 'd')
const steps = fc.array(
  fc.oneof(
    fc.record({ acquire: group, cost: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ release: fc.nat() }),
    fc.record({ cancel: fc.nat() }),
  ),
  { maxLength: 200 },
)

/**
 * Many cheap requests of another group begin while an expensive one waits. Then the expensive one
 * is cancelled.
 */
const cancelAfterCheapOnes = [
  ...Array.from({ length: permits }, () => ({ acquire: 'c', cost: 1 })),
  { acquire: 'a', cost: 9 },
  { acquire: 'a', cost: 1 },
  ...Array.from({ length: 8 }, () => ({ acquire: 'b', cost: 1 })),
  ...Array.from({ length: 8 }, () => ({ release: 0 })),
  { cancel: 0 },
  { release: 0 },
]

const sum = (costs: readonly number[]): number => costs.reduce((all, cost) => all + cost, 0)

const requestOf = (name: string, cost: number, begin: (request: PermitRequest) => void): PermitRequest => {
  const request = { group: name, cost, before: undefined, after: undefined, begin: () => begin(request) }
  return request
}

it('FairSemaphore uses all permits and never more, and a request waits for at most one request of each other group, and for as much further cost as its own', () => {
  fc.assert(
    fc.property(steps, all => {
      const semaphore = new FairSemaphore(permits)
      const running: PermitRequest[] = []
      /** The waiting requests, in order, each with the requests that began while it waited. */
      const waiting = new Map<PermitRequest, PermitRequest[]>()
      function onBegin(request: PermitRequest): void {
        const { group: name } = request
        expect([...waiting.keys()].find(other => other.group === name) ?? request).toBe(request)
        const begun = waiting.get(request) ?? []
        waiting.delete(request)
        const sinceOwn = begun.slice(begun.findLastIndex(other => other.group === name) + 1)
        for (const others of Map.groupBy(sinceOwn, other => other.group).values()) {
          expect(sum(others.slice(1).map(({ cost }) => cost))).toBeLessThanOrEqual(request.cost)
        }
        for (const others of waiting.values()) others.push(request)
        running.push(request)
      }
      const pick = <Item>(items: readonly Item[], index: number): Item | undefined => items[index % items.length]
      for (const step of all) {
        if ('acquire' in step) {
          const request = requestOf(step.acquire, step.cost, onBegin)
          if (running.length === permits) waiting.set(request, [])
          semaphore.acquire(request)
        } else if ('release' in step) {
          const ended = pick(running, step.release)
          if (ended === undefined) continue
          running.splice(running.indexOf(ended), 1)
          semaphore.release()
        } else {
          const cancelled = pick([...waiting.keys()], step.cancel)
          if (cancelled === undefined) continue
          waiting.delete(cancelled)
          semaphore.cancel(cancelled)
          // A request behind `cancelled` may be cheaper and allow fewer requests before it, so the
          // count starts again.
          for (const [other, begun] of waiting) if (other.group === cancelled.group) begun.length = 0
        }
        expect(running.length).toBeLessThanOrEqual(permits)
        if (waiting.size > 0) expect(running.length).toBe(permits)
      }
    }),
    { examples: [[cancelAfterCheapOnes]] },
  )
})

it('FairSemaphore gives two groups that always wait the same cost, except for at most one request', () => {
  const costs = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 50 })
  fc.assert(
    fc.property(costs, costs, (ofA, ofB) => {
      const semaphore = new FairSemaphore(1)
      const served = { a: 0, b: 0 }
      const waiting = { a: ofA.length, b: ofB.length }
      semaphore.acquire(requestOf('other', 1, () => {}))
      const acquire = (name: 'a' | 'b', cost: number): void =>
        semaphore.acquire(
          requestOf(name, cost, () => {
            served[name] += cost
            waiting[name] -= 1
          }),
        )
      for (const cost of ofA) acquire('a', cost)
      for (const cost of ofB) acquire('b', cost)
      while (waiting.a > 0 && waiting.b > 0) {
        semaphore.release()
        expect(Math.abs(served.a - served.b)).toBeLessThanOrEqual(Math.max(...ofA, ...ofB))
      }
    }),
  )
})
