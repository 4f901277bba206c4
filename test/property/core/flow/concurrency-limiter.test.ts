import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  ConcurrencyLimiter,
  type DestinationCalls,
  type PermitShares,
} from '../../../../src/core/flow/concurrency-limiter.ts'

const perHost = fc.integer({ min: 1, max: 64 })
/**
 * Permits per host, at least eight: with fewer, a destination that holds all permits may take each
 * released permit before the other destinations.
 */
const sharedPerHost = fc.integer({ min: 8, max: 64 })
const destinations = fc.integer({ min: 1, max: 12 })
const steps = fc.array(fc.tuple(fc.nat(11), fc.nat(2), fc.boolean()), { maxLength: 400 })

describe('ConcurrencyLimiter of one host', () => {
  it('never has more requests than the limit, and gives a destination without requests a free permit', () => {
    fc.assert(
      fc.property(perHost, destinations, steps, (limit, count, given) => {
        const limiter = new ConcurrencyLimiter({ maxInFlight: 100_000, perWebhook: 100_000, perHost: limit })
        const share: DestinationCalls = { calls: 0, turns: 0 }
        const rooms = Array.from({ length: count }, (_, id) =>
          [0, 1, 2].map(path =>
            limiter.permitsOf({ url: `https://one.example.com/${id}/${path}` }, `destination-${id}`),
          ),
        )
        const held: PermitShares[][] = rooms.map(() => [])
        for (const [who, path, isStart] of given) {
          const id = who % count
          const permits = rooms[id]?.[path] as PermitShares
          if (!isStart) {
            const ended = held[id]?.shift()
            if (ended !== undefined) limiter.release(share, ended)
          } else if (limiter.hasPermit(permits)) {
            limiter.acquire(share, permits)
            held[id]?.push(permits)
          }
          expect(limiter.inFlight).toBeLessThanOrEqual(limit)
          for (const [other, [first]] of rooms.entries())
            if (held[other]?.length === 0)
              expect(limiter.hasPermit(first as PermitShares)).toBe(limiter.inFlight < limit)
        }
      }),
    )
  })

  it('gives each destination that always has work an equal share when earlier requests have ended', () => {
    fc.assert(
      fc.property(sharedPerHost, destinations, steps, (limit, count, given) => {
        const limiter = new ConcurrencyLimiter({ maxInFlight: 100_000, perWebhook: 100_000, perHost: limit })
        const share: DestinationCalls = { calls: 0, turns: 0 }
        const rooms = Array.from({ length: count }, (_, id) =>
          limiter.permitsOf({ url: `https://one.example.com/${id}` }, `destination-${id}`),
        )
        const held = rooms.map(() => 0)
        const start = (id: number): void => {
          const permits = rooms[id] as PermitShares
          if (!limiter.hasPermit(permits)) return
          limiter.acquire(share, permits)
          held[id] = (held[id] ?? 0) + 1
        }
        for (const [who] of given) start(who % count)
        const before = [...held]
        const total = (): number => held.reduce((all, each) => all + each, 0)
        // After the end of each earlier request, every destination tries to start a request.
        for (const [id, calls] of before.entries())
          for (let call = 0; call < calls; call++) {
            limiter.release(share, rooms[id] as PermitShares)
            held[id] = (held[id] ?? 0) - 1
            for (const other of rooms.keys()) start(other)
          }
        for (let round = 0; round < limit; round++) for (const id of rooms.keys()) start(id)
        const fair = count === 1 ? limit : Math.max(1, Math.floor(limit / (count + 1)))
        if (limit >= count) for (const calls of held) expect(calls).toBeGreaterThanOrEqual(fair)
        expect(total()).toBeLessThanOrEqual(limit)
        if (count === 1) expect(total()).toBe(limit)
      }),
    )
  })
})
