import { expect, it, jest } from '@jest/globals'
import { ledgerRows } from '../../../../src/core/ledger/balance.ts'
import { LedgerCounts } from '../../../../src/core/ledger/ledger-counts.ts'
import { parseCommit } from '../../../../src/core/progress/commit-metadata.ts'
import { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { trackMessage } from '../../../support/collector/track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'

/** The counts of the ledger by destination. */
function rowsOf({ live, retries }: DispatcherHarness): Readonly<Record<string, unknown>> {
  const counts = new LedgerCounts()
  for (const { offset, metadata } of [live, retries].flatMap(({ handlers }) => handlers?.positions() ?? []))
    counts.merge(parseCommit(offset, metadata).ledger?.counts ?? new LedgerCounts())
  const parts = { counts, waiting: new LedgerCounts(), isComplete: true, exactSince: 0 }
  const rows = [...ledgerRows(parts, { since: 0, until: Number.POSITIVE_INFINITY })]
  return Object.fromEntries(
    rows.map(({ destination, admitted, replayed, repeated, delivered, difference }) => [
      destination,
      { admitted, replayed, repeated, delivered, difference },
    ]),
  )
}

const replayOf = { 'replay-of': 'hookline.events/0/7/1772323200000' }

it('counts a replayed event as replayed, for each of its destinations', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm'), destination('off', { enabled: false })],
  })
  harness.write({ message: trackMessage('m1') })
  harness.write({ message: trackMessage('m2') }, replayOf)
  await harness.advance(1)
  expect(rowsOf(harness)).toEqual({
    crm: { admitted: 1, replayed: 1, repeated: 0, delivered: 2, difference: 0 },
    off: { admitted: 1, replayed: 1, repeated: 0, delivered: 0, difference: 0 },
  })
})

it('counts a replayed event as replayed, when it waits for its source before', async () => {
  const harness = await DispatcherHarness.started({ destinations: [destination('crm', { sources: ['new', 'web'] })] })
  harness.write({ message: trackMessage('m1'), destinationId: 'late' }, replayOf)
  await harness.advance(1)
  harness.destinations = [destination('late')]
  await harness.advance(120_000)
  expect(rowsOf(harness)).toEqual({
    '-': { admitted: 0, replayed: 0, repeated: 0, delivered: 0, difference: 0 },
    late: { admitted: 0, replayed: 1, repeated: 0, delivered: 1, difference: 0 },
  })
})

it('keeps only the entries of a done record, because the tracker may keep them for a long time', async () => {
  const done = jest.spyOn(PartitionProcessor.prototype, 'done')
  const harness = await DispatcherHarness.started()
  harness.write({ message: trackMessage('m1') })
  await harness.advance(1)
  expect(done.mock.calls.map(([, counted]) => Object.keys(counted ?? {}))).toEqual([['hour', 'entries']])
  done.mockRestore()
})
