import { describe, expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/messages.ts'
import { DispatcherHarness, ok } from '../../../support/dispatcher/harness.ts'

const deliveries = (harness: DispatcherHarness): number => harness.count('deliveries{crm,delivered}')

/**
 * Of a dispatcher with so many limiter at one webhook, all taken, and as much again that waits: how many calls it made when so many deliveries
 * had ended.
 */
async function callsByEnded(limiter: number): Promise<Record<number, number>> {
  const calls: Record<number, number> = {}
  const harness = await DispatcherHarness.started({
    delivery: { maxInFlight: 10 * limiter, perWebhook: limiter, perHost: limiter },
    answer: () => {
      const ended = deliveries(harness)
      calls[ended] = (calls[ended] ?? 0) + 1
      return ok
    },
  })
  for (let index = 0; index < 2 * limiter; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
  await harness.advance(1)
  expect(deliveries(harness)).toBe(2 * limiter)
  return calls
}

describe('what has ended in one turn of the event loop', () => {
  it('is followed together, once all answers that are there were read', async () => {
    expect(await callsByEnded(50)).toEqual({ 0: 50, 50: 50 })
  })

  it('is followed in parts when it is much: a wave of thousands would be all the memory that there is', async () => {
    expect(await callsByEnded(150)).toMatchObject({ 0: 150, 64: 64, 128: 64 })
  })
})
