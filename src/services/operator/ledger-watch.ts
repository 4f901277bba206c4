import type { LedgerRow } from '../../core/ledger/ledger-balance-rows.ts'
import { hourOf } from '../../core/ledger/ledger-counts.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LedgerView, ReadLedger } from '../../core/operator/ledger-query-and-view.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs, epochMs } from '../../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'

/** Number of hours that each reading of the ledger covers, the current hour included. */
const hoursPerReading = 24
/**
 * Time between two readings of the ledger. It is shorter than the wait of the alert
 * `HooklineLedgerDifference`, so a difference in only one reading does not fire the alert.
 */
const readEvery = durationMs(300_000)
/**
 * Time until the first reading. Dispatchers that start together with this process have committed
 * their counts by then.
 */
const firstRunAfter = durationMs(5_000)
const maxLogged = 100

interface Deps {
  readonly readLedger: ReadLedger
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'ledgerDifference' | 'ledgerReadAt'>
  readonly logger: Logger
}

/**
 * Sets the metrics of the alert `HooklineLedgerDifference`. They keep their values after an
 * incomplete reading.
 */
export function createLedgerWatch({ readLedger, clock, metrics, logger }: Deps): PeriodicTask {
  let logged = 0
  /**
   * The ledger rows of the last day whose `difference` is not 0. If a later reading leaves out the
   * hour of a row, because the counts of this hour have become incomplete, the row stays here until
   * it is a day old.
   */
  let unbalanced: readonly LedgerRow[] = []

  function report({ rows, totals, since, exactSince }: LedgerView, current: number): void {
    if (totals.difference === undefined) return incomplete(exactSince)
    const hidden = unbalanced.filter(({ hour }) => hour < since && hourIn(hour) > current - hoursPerReading)
    unbalanced = [...hidden, ...rows.filter(row => (row.difference ?? 0) !== 0)]
    const difference = hidden.reduce((sum, row) => sum + Math.abs(row.difference ?? 0), totals.difference)
    metrics.ledgerDifference.set({}, difference)
    metrics.ledgerReadAt.set({}, clock.now() / 1_000)
    if (difference !== 0 && difference !== logged) {
      logger.error(
        { difference, rows: unbalanced.slice(0, maxLogged).map(shown) },
        'deliveries may be lost: see "rows" for the destinations and hours (at most 100 rows), and follow the runbook HooklineLedgerDifference; a positive "difference" counts deliveries without a result, and a negative "difference" counts results without a delivery',
      )
    }
    logged = difference
  }

  function incomplete(exactSince: string | undefined): void {
    logger.warn(
      { exactSince },
      'the operator service could not read some counts of the ledger, and tries again in five minutes; the counts of all hours before "exactSince" are incomplete (without "exactSince", those of any hour may be); if this line repeats, follow the runbook HooklineLedgerDifference',
    )
  }

  async function run() {
    try {
      const current = hourOf(clock.now())
      report(await readCompleteHours(readLedger, current), current)
    } catch (error) {
      logger.warn(
        { error: (error as Error).message },
        'the operator service could not read the ledger (see "error"); it tries again in five minutes',
      )
    }
    return readEvery
  }

  const task = createPeriodicTask({ clock, firstRunAfter, run })
  return {
    start() {
      // The alert `HooklineLedgerDifference` also fires when this time is 30 minutes old. Without
      // this line, it would not fire before the first complete reading.
      metrics.ledgerReadAt.set({}, clock.now() / 1_000)
      task.start()
    },
    stop: task.stop,
  }
}

/** Reads the hours of the last day whose counts are complete. `current` is in hours since 1970. */
async function readCompleteHours(readLedger: ReadLedger, current: number): Promise<LedgerView> {
  const until = current + 1
  const view = await readLedger({ since: until - hoursPerReading, until })
  if (view.exactSince === undefined) return view
  const since = hourIn(view.exactSince)
  if (since < until) return readLedger({ since, until })
  return { ...view, totals: { ...view.totals, difference: undefined } }
}

const shown = ({ hour, destination, difference }: LedgerRow) => ({ hour, destination, difference })

const hourIn = (time: string): number => hourOf(epochMs(Date.parse(time)))
