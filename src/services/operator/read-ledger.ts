import { type LedgerFilter, type LedgerParts, ledgerRows } from '../../core/ledger/ledger-balance-rows.ts'
import { hourMs, LedgerCounts } from '../../core/ledger/ledger-counts.ts'
import { LedgerSummary } from '../../core/ledger/ledger-summary.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { LedgerView, ReadLedger } from '../../core/operator/ledger-query-and-view.ts'
import type { Clock } from '../../core/ports.ts'
import { nextIteration } from '../../core/sleep-and-yield.ts'
import { type DurationMs, epochMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { isKafkaError } from './is-kafka-error.ts'
import { type LedgerSource, readLedgerParts } from './read-ledger-commits-and-retries.ts'

/** Limits of one request that reads the ledger. */
export interface LedgerLimits {
  /** Maximum number of records that are read from the retry topics. */
  readonly records: number
  /** Time after which the reading stops. The answer is then incomplete. */
  readonly time: DurationMs
  /**
   * Maximum wait of a request, even if Kafka does not respond. After this time, the request gets an
   * answer without rows.
   */
  readonly answerWithin: DurationMs
}

const maxRows = 5_000
/** Number of ledger rows after which the computation pauses for other work of the event loop. */
const rowsPerTurn = 500

/**
 * Reads the ledger for one request at a time; requests for the same counts share a reading. If
 * Kafka fails, the answer has no rows.
 */
export function createReadLedger(source: LedgerSource, limits: LedgerLimits): ReadLedger {
  const { clock } = source
  const running = new Map<string, Promise<LedgerView>>()
  let last: Promise<unknown> = Promise.resolve()

  async function read(filter: LedgerFilter): Promise<LedgerView> {
    const until = clock.monotonic() + limits.time
    const view = last.then(async () => {
      const isLate = clock.monotonic() >= until
      const parts = isLate
        ? nothing()
        : await readLedgerParts(source, filter, { until, records: limits.records }).catch(nothingIfKafkaFailed)
      return viewOf(parts, filter, clock)
    })
    const answer = within(clock, limits.answerWithin, view, () => viewOf(nothing(), filter, clock))
    // The next reading begins after this answer, even if this reading has failed or exceeded its
    // time limit.
    last = answer.catch(() => undefined)
    return answer
  }

  return filter => {
    const key = JSON.stringify([filter.since, filter.until, filter.destination])
    const shared = running.get(key) ?? read(filter).finally(() => running.delete(key))
    running.set(key, shared)
    return shared
  }
}

const nothing = (): LedgerParts => ({
  ...{ counts: new LedgerCounts(), waiting: new LedgerCounts() },
  ...{ exactSince: 0, isComplete: false },
})

function nothingIfKafkaFailed(error: unknown): LedgerParts {
  if (isKafkaError(error)) return nothing()
  throw error
}

async function viewOf(parts: LedgerParts, filter: LedgerFilter, clock: Clock): Promise<LedgerView> {
  const summary = new LedgerSummary(maxRows)
  let added = 0
  for (const row of ledgerRows(parts, filter)) {
    summary.add(row)
    if (++added % rowsPerTurn === 0) await nextIteration(clock)
  }
  const at = (hour: number): string => toIsoTimestamp(epochMs(hour * hourMs))
  const { difference, ...sums } = summary.totals
  const isPartial = !parts.isComplete || summary.isCut
  return {
    at: toIsoTimestamp(clock.now()),
    since: at(filter.since),
    until: at(filter.until),
    ...(isPartial && { partial: true }),
    ...(parts.exactSince > filter.since && { exactSince: at(parts.exactSince) }),
    totals: parts.isComplete ? { ...sums, difference } : sums,
    rows: summary.rows,
  }
}
