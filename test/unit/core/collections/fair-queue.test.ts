import { describe, expect, it } from '@jest/globals'
import { FairQueue, type FairQueueItem } from '../../../../src/core/collections/fair-queue.ts'

interface Item extends FairQueueItem<Item> {
  readonly name: string
}

/**
 * Creates a queue whose items have names like `a1:3`: `a` is the group and 3 the cost. Without a
 * number after a colon, the cost is 1.
 */
function namedQueue() {
  const queue = new FairQueue<Item>()
  function add(text: string): readonly Item[] {
    const items = text.split(' ').map((each): Item => {
      const [name = '', cost = '1'] = each.split(':')
      return { name, group: name.slice(0, 1), cost: Number(cost), before: undefined, after: undefined }
    })
    for (const item of items) queue.add(item)
    return items
  }
  const take = (count: number): string => Array.from({ length: count }, () => queue.shift()?.name ?? 'none').join(' ')
  return { queue, add, take }
}

describe('FairQueue', () => {
  it('is empty at first and when all items were taken', () => {
    const { queue, add, take } = namedQueue()
    expect(queue.first).toBe(undefined)
    const [item] = add('a1')
    expect(queue.first).toBe(item)
    expect(take(2)).toBe('a1 none')
    expect(queue.first).toBe(undefined)
  })

  it('takes items of the same total cost from each group', () => {
    const { add, take } = namedQueue()
    add('a1:3 a2:3 b1 b2 b3 b4 b5 b6')
    expect(take(8)).toBe('b1 b2 a1 b3 b4 b5 a2 b6')
  })

  it('does not serve new groups before waiting ones after an expensive item was removed', () => {
    const { queue, add, take } = namedQueue()
    const [expensive] = add('x1:90 x2') as [Item, Item]
    add('a1:10 a2:10 a3:10 a4:10')
    expect(take(3)).toBe('a1 a2 a3')
    queue.remove(expensive)
    expect(take(1)).toBe('x2')
    add('n1:10 n2:10 n3:10')
    expect(take(4)).toBe('a4 n1 n2 n3')
  })

  it('gives a group no credit for the time in which it waited with an item that was removed', () => {
    const { queue, add, take } = namedQueue()
    const [expensive] = add('x1:90 x2 x3 x4 x5 x6') as [Item, ...Item[]]
    add('a1:2 a2:2 a3:2 a4:2')
    expect(take(2)).toBe('a1 a2')
    queue.remove(expensive)
    expect(take(7)).toBe('x2 x3 a3 x4 x5 a4 x6')
  })
})
