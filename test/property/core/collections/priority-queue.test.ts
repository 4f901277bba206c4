import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { PriorityQueue } from '../../../../src/core/collections/priority-queue.ts'

interface Item {
  readonly rank: number
  position: number
}

const steps = fc.array(fc.oneof(fc.record({ add: fc.nat(20) }), fc.record({ remove: fc.nat() })), { maxLength: 100 })

it('PriorityQueue always has an item with the lowest rank first', () => {
  fc.assert(
    fc.property(steps, all => {
      const queue = new PriorityQueue<Item>((one, other) => one.rank < other.rank)
      const items: Item[] = []
      for (const step of all) {
        if ('add' in step) {
          const item = { rank: step.add, position: 0 }
          items.push(item)
          queue.add(item)
        } else if (items.length > 0) {
          for (const removed of items.splice(step.remove % items.length, 1)) queue.remove(removed)
        }
        expect(queue.first?.rank).toBe(items.map(({ rank }) => rank).sort((one, other) => one - other)[0])
      }
    }),
  )
})
