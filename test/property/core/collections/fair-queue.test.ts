import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { FairQueue, type FairQueueItem } from '../../../../src/core/collections/fair-queue.ts'

interface Item extends FairQueueItem<Item> {}

const steps = (maxCost: number) =>
  fc.integer({ min: 1, max: 20 }).chain(groups =>
    fc.array(
      fc.record({
        group: fc.nat(groups - 1).map(String),
        cost: fc.integer({ min: 1, max: maxCost }),
        taken: fc.constantFrom(0, 0, 1, 2, 5),
      }),
      { maxLength: 200 },
    ),
  )

function play(
  all: readonly { readonly group: string; readonly cost: number; readonly taken: number }[],
  { onAdded, onTaken }: { onAdded: (item: Item) => void; onTaken: (item: Item) => void },
): void {
  const queue = new FairQueue<Item>()
  const take = (): boolean => {
    const item = queue.shift()
    if (item !== undefined) onTaken(item)
    return item !== undefined
  }
  for (const { group, cost, taken } of all) {
    const item: Item = { group, cost, before: undefined, after: undefined }
    queue.add(item)
    onAdded(item)
    for (let count = 0; count < taken; count += 1) take()
  }
  while (take());
}

it('FairQueue takes at least the fair share of each group that waits since the queue was empty, except for one item', () => {
  fc.assert(
    fc.property(steps(1_000), all => {
      const waiting = new Map<string, Item[]>()
      /** By group: the cost of the items that were taken since the queue was last empty. */
      const taken = new Map<string, number>()
      let total = 0
      /** The groups that have always had a waiting item since the queue was last empty. */
      const steady = new Set<string>()
      play(all, {
        onAdded(item) {
          if (waiting.size === 0) {
            taken.clear()
            steady.clear()
            total = 0
          }
          const items = waiting.get(item.group) ?? []
          waiting.set(item.group, [...items, item])
          if (total === 0) steady.add(item.group)
          taken.set(item.group, taken.get(item.group) ?? 0)
        },
        onTaken({ group, cost }) {
          const [, ...others] = waiting.get(group) ?? []
          waiting.set(group, others)
          if (others.length === 0) {
            waiting.delete(group)
            steady.delete(group)
          }
          taken.set(group, (taken.get(group) ?? 0) + cost)
          total += cost
          for (const name of steady) {
            const next = waiting.get(name)?.[0]?.cost ?? 0
            expect(taken.get(name)).toBeGreaterThanOrEqual(total / taken.size - next)
          }
        },
      })
    }),
  )
})

it('FairQueue takes the item of a group that did not wait after at most one item of each other group, if all items have the same cost', () => {
  fc.assert(
    fc.property(steps(1), all => {
      const waiting = new Map<string, number>()
      /** By group: the groups of which an item was taken since this group began to wait. */
      const before = new Map<string, string[]>()
      play(all, {
        onAdded({ group }) {
          if (!waiting.has(group)) before.set(group, [])
          waiting.set(group, (waiting.get(group) ?? 0) + 1)
        },
        onTaken({ group }) {
          before.delete(group)
          const left = (waiting.get(group) ?? 0) - 1
          if (left > 0) waiting.set(group, left)
          else waiting.delete(group)
          for (const groups of before.values()) {
            groups.push(group)
            expect(new Set(groups).size).toBe(groups.length)
          }
        },
      })
    }),
  )
})
