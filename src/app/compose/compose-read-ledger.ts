import { readCommits } from '../../adapters/kafka/log/end-and-committed-offsets.ts'
import { createReader } from '../../adapters/kafka/log/topic-reader.ts'
import type { WithLogSession } from '../../core/log-session.ts'
import type { ReadLedger } from '../../core/operator/ledger-query-and-view.ts'
import { durationMs } from '../../core/time.ts'
import { createReadLedger, type LedgerLimits } from '../../services/operator/read-ledger.ts'
import { retryTiers } from './compose-objects-and-log-api.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/** Limits for the ledger route of the operator API, so that a client gets a response within 2 s. */
export const ledgerRouteLimits: LedgerLimits = {
  ...{ records: 200_000, time: durationMs(1_600), answerWithin: durationMs(1_900) },
}
/** Limits for reading the ledger in the background, where no client waits. */
export const ledgerWatchLimits: LedgerLimits = {
  ...{ records: 1_000_000, time: durationMs(60_000), answerWithin: durationMs(90_000) },
}

export function composeReadLedger(
  shared: SharedDependencies,
  sessions: WithLogSession,
  limits: LedgerLimits,
): ReadLedger {
  const { kafka, topics, clock, logger } = shared
  const source = {
    commits: (groupId: string) => readCommits(kafka, groupId),
    reader: createReader({ kafka, clock, logger }),
    ...retryTiers(shared),
    ...{ sessions, topics, clock },
  }
  return createReadLedger(source, limits)
}
