import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Chain, type Link } from '../../../src/core/chain.ts'

describe('Chain', () => {
  it('behaves as a set does, in the order in which items came', () => {
    const step = fc.oneof(fc.constant('add' as const), fc.record({ remove: fc.nat() }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const chain = new Chain<number>()
        const oracle = new Set<number>()
        const links: Link<number>[] = []
        for (const [item, each] of steps.entries()) {
          if (each === 'add') {
            links.push(chain.add(item))
            oracle.add(item)
          } else if (links.length > 0) {
            const [link] = links.splice(each.remove % links.length, 1)
            chain.remove(link!)
            oracle.delete(link!.item)
          }
          expect([...chain]).toEqual([...oracle])
          expect(chain.size).toBe(oracle.size)
        }
      }),
    )
  })

  it('goes on when the item that it is at is removed', () => {
    const chain = new Chain<number>()
    const links = [1, 2, 3].map(item => chain.add(item))
    const seen: number[] = []
    for (const item of chain) {
      seen.push(item)
      chain.remove(links[item - 1]!)
    }
    expect([seen, chain.size]).toEqual([[1, 2, 3], 0])
  })

  it('leaves nothing behind that leads from what was removed to what came after it', () => {
    const chain = new Chain<number>()
    const [first] = [1, 2, 3].map(item => chain.add(item))
    chain.remove(first!)
    expect([first!.before, first!.after]).toEqual([undefined, undefined])
  })
})
