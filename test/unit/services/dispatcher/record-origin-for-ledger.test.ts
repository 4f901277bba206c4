import { expect, it, jest } from '@jest/globals'
import { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'
import { ledgerRowsOf } from '../../../support/dispatcher/ledger-rows.ts'

const replayOf = { 'replay-of': 'hookline.events/0/7/1772323200000' }

it('counts a replayed event as replayed, for each of its destinations', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm'), destination('off', { enabled: false })],
  })
  harness.write({ message: trackMessage('m1') })
  harness.write({ message: trackMessage('m2') }, replayOf)
  await harness.advance(1)
  expect(ledgerRowsOf(harness)).toEqual({
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
  expect(ledgerRowsOf(harness)).toEqual({
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
