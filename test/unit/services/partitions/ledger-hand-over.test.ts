import { expect, it } from '@jest/globals'
import { partition } from '../../../support/kafka/scripted-consumer.ts'
import { turns } from '../../../support/manual-clock.ts'
import { setUp } from './processor-fixture.ts'

/**
 * Starts to revoke a partition with one record. The request of the record ends when the test calls
 * `ended`.
 */
async function revoking() {
  const asked: number[] = []
  const ledger = {
    exactSince: () => 0,
    check: () => undefined,
    writeUntilCountsFit: async (_: unknown, deadline: number) => void asked.push(deadline),
  }
  const given = setUp({
    ...{ offsets: [0], ledger },
    onRecord: (_, processor) => processor.started(),
  })
  given.consumer.fetch({ count: 1 })
  let isDrained = false
  const { partitions, clock } = given
  void partitions.handlers.onRevoking([partition], clock.monotonic() + 8_000).then(() => {
    isDrained = true
  })
  return { ...given, asked, isDrained: () => isDrained }
}
it('stores the results when the requests have ended', async () => {
  const { clock, asked, processor, isDrained } = await revoking()
  await clock.advance(1_000, turns)
  expect(asked).toEqual([])
  processor()?.ended()
  await clock.advance(0, turns)
  expect([asked, isDrained(), clock.timers]).toEqual([[8_000], true, 0])
})

it('stores the results before the deadline, also while a request does not end', async () => {
  const { clock, asked, processor, isDrained } = await revoking()
  await clock.advance(5_900, turns)
  expect(asked).toEqual([])
  await clock.advance(200, turns)
  expect([asked, isDrained()]).toEqual([[8_000], false])
  processor()?.ended()
  await clock.advance(0, turns)
  expect(isDrained()).toBe(true)
})

it('stores nothing at the deadline of a revocation that was cancelled', async () => {
  const { clock, asked, partitions } = await revoking()
  void partitions.handlers.onRevoking([], 0)
  await clock.advance(8_000, turns)
  expect(asked).toEqual([])
})
