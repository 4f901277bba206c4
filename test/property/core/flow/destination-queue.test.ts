import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { DestinationQueue } from '../../../../src/core/flow/destination-queue.ts'

interface Item {
  readonly id: number
  readonly key: string | undefined
  readonly group: number
}

class Oracle {
  waiting: Item[] = []
  underWay: Item[] = []

  isReady(item: Item): boolean {
    if (item.key === undefined) return true
    const isSame = (other: Item): boolean => other.key === item.key
    return !this.underWay.some(isSame) && this.waiting.find(isSame) === item
  }
}

const key = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), key, group: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const), putBack: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ended' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('takeOut' as const),
      group: fc.nat(2),
      most: fc.constantFrom(1, 2, 5, 100),
    }),
  },
)

describe('DestinationQueue', () => {
  it('keeps the order of each key, and always returns an item that is ready', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), steps => {
        const lane = new DestinationQueue<Item>()
        const oracle = new Oracle()
        let ids = 0
        for (const each of steps) {
          if (each.kind === 'push') {
            const item = { id: ids++, key: each.key, group: each.group }
            lane.push(item, item.key)
            oracle.waiting.push(item)
          } else if (each.kind === 'take') {
            const readyOnes = oracle.waiting.filter(item => oracle.isReady(item))
            const item = lane.take()
            if (item === undefined) expect(readyOnes).toEqual([])
            else {
              expect(readyOnes).toContain(item)
              if (each.putBack) lane.requeue(item, item.key)
              else {
                oracle.waiting = oracle.waiting.filter(other => other !== item)
                oracle.underWay.push(item)
              }
            }
          } else if (each.kind === 'ended') {
            const [item] = oracle.underWay.splice(each.which % (oracle.underWay.length || 1), 1)
            if (item !== undefined) lane.ended(item.key)
          } else {
            const isSuch = (item: Item): boolean => item.group === each.group
            const all = oracle.waiting.filter(isSuch)
            const out = lane.drainMatching(isSuch, each.most)
            expect(all).toEqual(expect.arrayContaining([...out]))
            expect(out.length).toBeGreaterThanOrEqual(Math.min(each.most, all.length))
            for (const same of ['a', 'b', 'c']) {
              const [own, whole] = [out, all].map(items => items.filter(item => item.key === same))
              if (own!.length > 0) expect(own).toEqual(whole)
            }
            // Items of one key are drained together, so only those of the last key may exceed the
            // limit.
            expect(out.slice(each.most).every(({ key }) => key === out.at(-1)?.key)).toBe(true)
            oracle.waiting = oracle.waiting.filter(item => !out.includes(item))
          }
          expect(lane.queued).toBe(oracle.waiting.length)
          const heads = [...lane.heads()]
          if (lane.ready > 0) expect(oracle.waiting.filter(item => oracle.isReady(item))).toContain(heads[0])
          expect(heads.length > 0).toBe(oracle.waiting.length > 0)
          for (const key of ['a', 'b', 'c']) {
            const first = oracle.waiting.find(item => item.key === key && !oracle.isReady(item))
            if (first !== undefined) expect(heads).toContain(first)
          }
          expect(lane.ready).toBe(oracle.waiting.filter(item => oracle.isReady(item)).length)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
