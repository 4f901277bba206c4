import { describe, expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, ok } from '../../../support/dispatcher/harness.ts'

const deliveries = (harness: DispatcherHarness): number => harness.count('deliveries{crm,delivered}')

/**
 * Starts twice `permits` deliveries. Returns for each n how many requests started while exactly n
 * deliveries had ended.
 */
async function callsByEnded(permits: number): Promise<Record<number, number>> {
  const calls: Record<number, number> = {}
  const harness = await DispatcherHarness.started({
    delivery: { maxInFlight: 10 * permits, perWebhook: permits, perHost: permits },
    answer: () => {
      const ended = deliveries(harness)
      calls[ended] = (calls[ended] ?? 0) + 1
      return ok
    },
  })
  for (let index = 0; index < 2 * permits; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
  await harness.advance(1)
  expect(deliveries(harness)).toBe(2 * permits)
  return calls
}

describe('requests that end in one tick of the event loop', () => {
  it('are followed by new ones together, after all responses were read', async () => {
    expect(await callsByEnded(50)).toEqual({ 0: 50, 50: 50 })
  })

  it('are followed by new ones in parts when there are many, to limit memory', async () => {
    expect(await callsByEnded(150)).toMatchObject({ 0: 150, 64: 64, 128: 64 })
  })
})
