import { expect, it } from '@jest/globals'
import type { PendingRecord } from '../../../../src/core/ledger/ledger-record-chain.ts'
import { parseCommit } from '../../../../src/core/progress/commit-metadata.ts'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

const firstHour = 490_000

interface Load {
  readonly destinations: number
  /** Number of deliveries between two commits. Each goes to the next destination of the list. */
  readonly perCommit: number
  readonly commitsPerHour: number
  readonly hours: number
}

/**
 * Applies a load, and counts:
 * - `records`: the ledger records written.
 * - `late`: the commits that do not include the last finished delivery.
 * - `read`: the ledger records in the chain that begins at the last commit.
 */
function volumeOf({ destinations, perCommit, commitsPerHour, hours }: Load) {
  const ids = Array.from({ length: destinations }, (_, index) => `destination-${index}`)
  const tracker = new OffsetTracker(0, '', 0)
  const batches = new Map<number, PendingRecord>()
  let next = 0
  let late = 0
  for (let commit = 0; commit < commitsPerHour * hours; commit++) {
    const hour = firstHour + Math.floor(commit / commitsPerHour)
    for (let count = 0; count < perCommit; count++) {
      const destination = ids[next % destinations] as string
      tracker.add(next)
      tracker.done(next++, {
        hour,
        entries: [
          { destination, field: 'admitted' },
          { destination, field: 'delivered' },
        ],
      })
    }
    if (tracker.position.offset < next) late++
    if (!tracker.isLedgerDue) continue
    const batch = tracker.startLedgerRecord()
    if (batch === undefined) continue
    const offset = batches.size
    batches.set(offset, batch)
    tracker.ledgerStored(batch, offset)
  }
  const { offset, metadata } = tracker.position
  let read = 0
  for (let at = parseCommit(offset, metadata).ledger?.last; at !== undefined; at = batches.get(at)?.previousOffset)
    read++
  return { records: batches.size, late, read }
}

it('needs at most one ledger record an hour and partition with 40 active destinations', () => {
  const hours = 6
  const { records, late } = volumeOf({ destinations: 40, perCommit: 10, commitsPerHour: 300, hours })
  expect(late).toBe(0)
  expect(records).toBeLessThanOrEqual(hours)
})

it('is read with few records per partition with 1,000 active destinations', () => {
  const { records, read } = volumeOf({ destinations: 1_000, perCommit: 42, commitsPerHour: 300, hours: 4 })
  expect(records).toBeGreaterThan(500)
  expect(read).toBeLessThanOrEqual(24)
})
