import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'
import { ledgerRowsOf } from '../../../support/dispatcher/ledger-rows.ts'
import { replayEvents } from '../../../support/dispatcher/replay-dead-lettered-events.ts'

/*
 * Processes apply a changed configuration at different times, so successive owners of a partition
 * may know different sources.
 */

const [slow, fast, late] = ['slow', 'fast', 'late'].map(id => destination(id))

/** One owner of the partitions. Its configuration may have no source, or no destination `late`. */
const owner = fc.record({
  isSourceKnown: fc.boolean(),
  hasLate: fc.boolean(),
  messages: fc.nat(2),
  waitMs: fc.constantFrom(1, 11_000, 31_000, 61_000),
})

it('a destination gets each event once, for any succession of owners that know or do not know its source', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(owner, { minLength: 2, maxLength: 7 }), async owners => {
      // `slow` responds only to the requests of the last owner.
      let isLast = false
      const harness = await DispatcherHarness.started({
        delivery: { perWebhook: 1 },
        answer: ({ url }) => (isLast || !url.includes('slow') ? ok : 'never'),
      })
      const { sources } = harness
      const become = async (isSourceKnown: boolean, hasLate: boolean): Promise<void> => {
        harness.sources = isSourceKnown ? sources : []
        harness.destinations = [slow!, fast!, ...(hasLate ? [late!] : [])]
        await harness.restart()
      }
      const ids: string[] = []
      for (const { isSourceKnown, hasLate, messages, waitMs } of owners) {
        await become(isSourceKnown, hasLate)
        for (let count = 0; count < messages; count++) {
          const id = `m${ids.length}`
          ids.push(id)
          harness.write({ message: trackMessage(id) })
        }
        await harness.advance(waitMs)
      }
      isLast = true
      await become(true, true)
      await harness.advance(120_000)
      replayEvents(harness)
      await harness.advance(1)

      const sentTo = (id: string): readonly (string | undefined)[] =>
        harness.calls.filter(({ call }) => call.url.includes(id)).map(({ call }) => call.headers['X-Message-Id'])
      expect(sentTo('fast').toSorted()).toEqual(ids.toSorted())
      expect(sentTo('late')).toEqual([...new Set(sentTo('late'))])
      const rows = ledgerRowsOf(harness)
      for (const { difference } of Object.values(rows)) expect(difference).toBe(0)
      const delivered = ['slow', 'fast', 'late'].map(id => rows[id]?.delivered ?? 0)
      expect(delivered).toEqual([ids.length, ids.length, sentTo('late').length])
    }),
    { numRuns: 60 },
  )
})
