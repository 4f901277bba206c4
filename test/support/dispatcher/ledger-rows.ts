import { type LedgerRow, ledgerRows } from '../../../src/core/ledger/ledger-balance-rows.ts'
import { LedgerCounts } from '../../../src/core/ledger/ledger-counts.ts'
import { parseCommit } from '../../../src/core/progress/commit-metadata.ts'
import type { DispatcherHarness } from './harness.ts'

/**
 * The counts of the ledger by destination. `difference` includes deliveries that wait in retry
 * topics, which are not read here.
 */
export function ledgerRowsOf({ live, retries }: DispatcherHarness): Readonly<Record<string, Counts>> {
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

type Counts = Pick<LedgerRow, 'admitted' | 'replayed' | 'repeated' | 'delivered' | 'difference'>
