import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { BodiesBySize } from '../../../../src/core/collector/evictable-bodies-by-size.ts'

const bodies = fc.array(
  fc.record({
    bytes: fc.integer({ min: 0, max: 1_000 }),
    laterBytes: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined }),
    isEvictable: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
)
const wanted = fc.record({ minBytes: fc.integer({ min: 1, max: 1_000 }), before: fc.integer({ min: 0, max: 40 }) })

it('finds an old enough body of at least the size, and the oldest one among bodies of constant size', () => {
  fc.assert(
    fc.property(bodies, wanted, (steps, { minBytes, before }) => {
      const bySize = new BodiesBySize()
      const all = steps.map(({ bytes, laterBytes, isEvictable }, since) => {
        const body = { bytes, since, isEvictable: true }
        bySize.place(body)
        if (laterBytes !== undefined) {
          body.bytes = laterBytes
          bySize.place(body)
        }
        // `bySize` does not notice this change, so `oldest` must check whether a body can still be
        // evicted.
        body.isEvictable = isEvictable
        return body
      })
      const except = all.at(-1)!
      const fits = (body: (typeof all)[number], least: number): boolean =>
        body.isEvictable && body !== except && body.since < before && body.bytes >= least
      const found = bySize.findOldBody({ minBytes, before, except }) as (typeof all)[number] | undefined
      if (found !== undefined) expect(fits(found, minBytes)).toBe(true)
      if (steps.some(({ laterBytes }) => laterBytes !== undefined)) return
      const oldest = all.find(body => fits(body, 1.19 * minBytes))
      if (oldest !== undefined) expect(found?.since).toBeLessThanOrEqual(oldest.since)
    }),
  )
})

it('finds a body that can be evicted again, and none without bytes', () => {
  const bySize = new BodiesBySize()
  const [body, except] = [100, 100].map(bytes => ({ bytes, since: 1, isEvictable: false }))
  const find = () => bySize.findOldBody({ minBytes: 50, before: Number.POSITIVE_INFINITY, except: except! })
  bySize.place(body!)
  expect(find()).toBeUndefined()
  bySize.place(Object.assign(body!, { isEvictable: true }))
  expect(find()).toBe(body)
  bySize.place(Object.assign(body!, { bytes: 0 }))
  expect(find()).toBeUndefined()
})
