import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type LimitedWorld, meanOf, simulateTraffic } from '../../../support/dispatcher/limited-endpoint-simulation.ts'

const counting = fc.constantFrom('bucket' as const, 'window' as const)
const latencyMs = fc.integer({ min: 1, max: 500 })
const processes = fc.integer({ min: 1, max: 5 })
/** The limit of an endpoint permits each process at least four attempts per second. */
const worlds = fc
  .record({
    limit: fc.oneof(fc.integer({ min: 4, max: 100 }), fc.integer({ min: 4, max: 1_000 })),
    counting,
    latencyMs,
    processes,
  })
  .filter(({ limit, processes }) => limit >= 4 * processes)

/** Maximum requests per second of all processes, each with 64 requests in progress. */
const capacityOf = ({ processes, latencyMs }: LimitedWorld): number => (processes * 64 * 1_000) / latencyMs
const reachable = (world: LimitedWorld, limit = world.limit): number => Math.min(limit, capacityOf(world))

it('settles within a tenth of any limit from 4 requests per second and process', () => {
  fc.assert(
    fc.property(worlds, world => {
      const { sent, delivered } = simulateTraffic(world, 120)
      expect(meanOf(delivered, 30, 120) / reachable(world)).toBeGreaterThan(0.9)
      expect(meanOf(sent, 30, 120) / reachable(world)).toBeLessThan(1.1)
    }),
    { numRuns: 20 },
  )
})

it('uses a limit that was raised by two to ten times within a minute', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: 2, max: 10 }), fc.integer({ min: 60, max: 90 }), (world, factor, at) => {
      const before = Math.min(world.limit, 100)
      const limit = before * factor
      const change = { atMs: at * 1_000, limit }
      const { delivered } = simulateTraffic({ ...world, limit: before, change }, at + 90)
      expect(meanOf(delivered, at + 60, at + 90) / reachable(world, limit)).toBeGreaterThan(0.9)
    }),
    { numRuns: 12 },
  )
})

it('follows a limit that fell to a tenth within 30 seconds', () => {
  fc.assert(
    fc.property(worlds, world => {
      const limit = Math.max(4 * world.processes, Math.floor(world.limit / 10))
      const { sent, delivered } = simulateTraffic({ ...world, change: { atMs: 60_000, limit } }, 150)
      expect(meanOf(delivered, 90, 150) / reachable(world, limit)).toBeGreaterThan(0.9)
      expect(meanOf(sent, 90, 150) / reachable(world, limit)).toBeLessThan(1.15)
    }),
    { numRuns: 12 },
  )
})

it('delivers at least 80 % of the limit when each 429 asks for a pause of one second', () => {
  fc.assert(
    fc.property(worlds, world => {
      const { delivered } = simulateTraffic({ ...world, retryAfter: 1 }, 120)
      expect(meanOf(delivered, 30, 120) / reachable(world)).toBeGreaterThan(0.8)
    }),
    { numRuns: 12 },
  )
})

it('delivers at least 40 % of a limit of one to three requests per second, with less than 2.5 times as many requests', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      counting,
      latencyMs,
      processes,
      (limit, counting, latencyMs, processes) => {
        const { sent, delivered } = simulateTraffic({ limit, counting, latencyMs, processes }, 180)
        expect(meanOf(delivered, 60, 180) / limit).toBeGreaterThan(0.4)
        expect(meanOf(sent, 60, 180) / limit).toBeLessThan(2.5)
      },
    ),
    { numRuns: 40 },
  )
})
