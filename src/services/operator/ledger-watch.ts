import { hourOf } from '../../core/ledger/ledger-counts.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LedgerView, ReadLedger } from '../../core/operator/ledger-query.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs, epochMs } from '../../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'

/** Number of hours that each reading covers, the current one included. */
const hours = 24
/**
 * Time between two readings of the ledger. A reading takes at most some seconds of CPU time. The
 * alert `HooklineLedgerDifference` waits for longer than this time, so a difference in only one
 * reading does not fire it.
 */
const readEvery = durationMs(300_000)
/**
 * Time until the first reading. The dispatchers commit every 250 ms, so those that start together
 * with this process have committed their offsets by then.
 */
const firstAfter = durationMs(5_000)

interface Deps {
  readonly readLedger: ReadLedger
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'ledgerDifference' | 'ledgerReadAt'>
  readonly logger: Logger
}

/**
 * Reads the ledger every five minutes, and sets the metrics that the alert
 * `HooklineLedgerDifference` uses. An incomplete reading does not change the metrics. A difference
 * is logged when it appears or changes.
 */
export function createLedgerWatch({ readLedger, clock, metrics, logger }: Deps): PeriodicTask {
  let logged = 0

  function report(view: LedgerView): void {
    const { difference } = view.totals
    if (difference === undefined) return incomplete()
    metrics.ledgerDifference.set({}, difference)
    metrics.ledgerReadAt.set({}, clock.now() / 1_000)
    if (difference !== 0 && difference !== logged) {
      const { hour, destination } = view.rows.find(row => (row.difference ?? 0) !== 0) ?? {}
      logger.error(
        { difference, hour, destination },
        'deliveries may be lost: "difference" deliveries of the last day have no result (they are not delivered, dead-lettered or dropped, and do not wait in a retry topic); "hour" and "destination" name the first row with a difference; to see all rows, run `hookline ledger`; see the runbook HooklineLedgerDifference',
      )
    }
    logged = difference
  }

  function incomplete(): void {
    logger.warn(
      {},
      'the operator service could not read all counts of the ledger, and tries again in five minutes; until then, the metric hookline_ledger_difference keeps its last value; see the runbook HooklineLedgerDifference',
    )
  }

  async function turn() {
    try {
      report(await readCompleteHours(readLedger, hourOf(clock.now())))
    } catch (error) {
      logger.warn(
        { error: (error as Error).message },
        'the operator service could not read the ledger (see error); it tries again in five minutes',
      )
    }
    return readEvery
  }

  const task = createPeriodicTask({ clock, firstAfter, turn })
  return {
    start() {
      // The first value is the time of the start. So the alert `HooklineLedgerDifference` fires
      // after 30 minutes if no complete reading has set a newer time.
      metrics.ledgerReadAt.set({}, clock.now() / 1_000)
      task.start()
    },
    stop: task.stop,
  }
}

/**
 * Reads the hours of the last day whose counts are complete. A new installation has fewer than 24
 * of them. `current` is the current hour, in hours since 1970.
 */
async function readCompleteHours(readLedger: ReadLedger, current: number): Promise<LedgerView> {
  const until = current + 1
  const view = await readLedger({ since: until - hours, until })
  if (view.exactSince === undefined) return view
  const since = Math.min(hourOf(epochMs(Date.parse(view.exactSince))), until)
  return readLedger({ since, until })
}
