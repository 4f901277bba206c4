import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LinkedList, type LinkedListItem } from '../../../../src/core/collections/linked-list.ts'

class Item implements LinkedListItem<Item> {
  before: Item | undefined = undefined
  after: Item | undefined = undefined
  readonly number: number

  constructor(number: number) {
    this.number = number
  }
}

const itemsOf = (...numbers: number[]): readonly Item[] => numbers.map(number => new Item(number))

const chainOf = (items: readonly Item[]): LinkedList<Item> => {
  const chain = new LinkedList<Item>()
  for (const item of items) chain.add(item)
  return chain
}

describe('LinkedList', () => {
  it('behaves as a set does, in the order in which items came', () => {
    const step = fc.oneof(fc.constant('add' as const), fc.record({ remove: fc.nat() }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const chain = new LinkedList<Item>()
        const oracle = new Set<Item>()
        for (const [number, each] of steps.entries()) {
          if (each === 'add') {
            const item = new Item(number)
            chain.add(item)
            oracle.add(item)
          } else if (oracle.size > 0) {
            const item = [...oracle][each.remove % oracle.size] as Item
            chain.remove(item)
            oracle.delete(item)
          }
          expect([...chain].map(item => item.number)).toEqual([...oracle].map(item => item.number))
          expect(chain.size).toBe(oracle.size)
        }
      }),
    )
  })

  it('iteration continues when the current item is removed', () => {
    const chain = chainOf(itemsOf(1, 2, 3))
    const seen: number[] = []
    for (const item of chain) {
      seen.push(item.number)
      chain.remove(item)
    }
    expect([seen, chain.size]).toEqual([[1, 2, 3], 0])
  })

  it('a removed item has no reference to later items', () => {
    const items = itemsOf(1, 2, 3)
    chainOf(items).remove(items[0]!)
    expect([items[0]!.before, items[0]!.after]).toEqual([undefined, undefined])
  })
})
