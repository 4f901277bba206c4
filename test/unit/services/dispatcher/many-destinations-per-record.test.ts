import { expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'

it('fewer records of a partition are in memory while each of them has many destinations', async () => {
  let latencyMs = 4_000
  const destinations = Array.from({ length: 100 }, (_, index) => destination(`destination-${index}`))
  const harness = await DispatcherHarness.started({
    // With 20 partitions, a partition may have 30 records in memory, or 100 while they are slow.
    partitions: 20,
    destinations,
    delivery: { ordering: 'none' },
    latencyMs: () => latencyMs,
  })
  for (let index = 0; index < 60; index++) harness.write({ message: trackMessage(`m${index}`, { userId: 'ada' }) })
  await harness.advance(100)
  // The partition may have 30 * 32 deliveries in memory (`deliveriesPerRecord` is 32). Ten records
  // exceed this limit. The partition pauses when the eleventh record is admitted.
  expect(harness.gauge('recordsOpen{}')).toBeLessThanOrEqual(11)
  await harness.advance(800)
  // While the records are slow, the partition may have 100 * 32 deliveries in memory. 33 records
  // exceed this limit. The partition pauses when the next record is admitted.
  expect(harness.gauge('recordsOpen{}')).toBeGreaterThan(30)
  expect(harness.gauge('recordsOpen{}')).toBeLessThanOrEqual(34)
  latencyMs = 0
  await harness.advance(20_000)
  const delivered = destinations.map(({ id }) => harness.count(`deliveries{${id},delivered}`))
  expect(new Set(delivered)).toEqual(new Set([60]))
  expect(harness.gauge('recordsOpen{}')).toBe(0)
})

it('records with few destinations are all in memory', async () => {
  const harness = await DispatcherHarness.started({
    partitions: 20,
    destinations: Array.from({ length: 32 }, (_, index) => destination(`destination-${index}`)),
    delivery: { ordering: 'none' },
    latencyMs: () => 4_000,
  })
  for (let index = 0; index < 150; index++) harness.write({ message: trackMessage(`m${index}`, { userId: 'ada' }) })
  await harness.advance(100)
  expect(harness.gauge('recordsOpen{}')).toBe(31)
  await harness.advance(800)
  expect(harness.gauge('recordsOpen{}')).toBe(101)
})
