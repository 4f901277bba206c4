import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  ConcurrencyLimiter,
  type DestinationCalls,
  type PermitShares,
} from '../../../../src/core/flow/concurrency-limiter.ts'

interface Call {
  readonly id: number
  readonly startedAt: number
  readonly endsAt: number
}

/**
 * Simulates busy destinations of one host, with requests of `callMs`. Returns each destination's
 * average number of permits in the second half.
 */
function held(perHost: number, callMs: readonly number[], forMs: number): readonly number[] {
  const limiter = new ConcurrencyLimiter({ maxInFlight: 100_000, perWebhook: 100_000, perHost })
  const share: DestinationCalls = { calls: 0, turns: 0 }
  const rooms = callMs.map((_, id) => limiter.permitsOf({ url: `https://one.example.com/${id}` }, `destination-${id}`))
  const ms = callMs.map(() => 0)
  const waiting = [...callMs.keys()]
  let calls: Call[] = []
  let now = 0
  const askAll = (): void => {
    const turns = waiting.splice(0)
    for (let id = turns.shift(); id !== undefined; id = turns.shift()) {
      const permits = rooms[id] as PermitShares
      if (!limiter.hasPermit(permits)) {
        waiting.push(id)
        continue
      }
      limiter.acquire(share, permits)
      calls.push({ id, startedAt: now, endsAt: now + (callMs[id] as number) })
      turns.push(id)
    }
  }
  for (askAll(); now < forMs; ) {
    expect(calls.length).toBeGreaterThan(0)
    now = Math.min(...calls.map(({ endsAt }) => endsAt))
    const ended = calls.filter(({ endsAt }) => endsAt === now)
    calls = calls.filter(({ endsAt }) => endsAt > now)
    for (const { id, startedAt } of ended) {
      waiting.splice(waiting.indexOf(id), 1)
      limiter.ended(share, rooms[id] as PermitShares, now - startedAt, now)
      ms[id] = (ms[id] ?? 0) + Math.max(0, now - Math.max(startedAt, forMs / 2))
      waiting.push(id)
    }
    askAll()
  }
  return ms.map(each => each / (forMs / 2))
}

it('with more slow destinations than permits, the fast one and the slow ones get their share of the time', () => {
  const limits = fc.integer({ min: 4, max: 24 })
  const slowMs = fc.integer({ min: 1_000, max: 5_000 })
  const quickMs = fc.integer({ min: 5, max: 100 })
  fc.assert(
    fc.property(limits, fc.nat(20), slowMs, quickMs, fc.boolean(), (limit, more, slow, quick, isFirst) => {
      const count = limit + more
      const all = Array<number>(count).fill(slow)
      const found = held(limit, isFirst ? [quick, ...all] : [...all, quick], 30 * slow)
      const fair = limit / (count + 1)
      const [first, ...rest] = isFirst ? found : found.toReversed()
      expect(first).toBeGreaterThanOrEqual(0.8 * Math.min(1, fair))
      const ofSlow = (rest.reduce((sum, each) => sum + each, 0) / count) * ((count + 1) / limit)
      expect(ofSlow).toBeGreaterThanOrEqual((0.9 * (limit - 1)) / limit)
      for (const each of rest) expect(each).toBeGreaterThan(0)
    }),
    { numRuns: 25 },
  )
})

it('when no destination is slow, or all are, every permit is used', () => {
  const alike = fc.oneof(fc.constant(10), fc.constant(4_000))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(8), alike, (limit, more, callMs) => {
      const count = limit + 1 + more
      const found = held(limit, Array<number>(count).fill(callMs), 40 * callMs)
      expect(found.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0.99 * limit)
    }),
    { numRuns: 25 },
  )
})
