import { parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { isInFilter, type LedgerFilter, type LedgerParts } from '../../core/ledger/ledger-balance-rows.ts'
import { hourOf, LedgerCounts } from '../../core/ledger/ledger-counts.ts'
import type { WithLogSession } from '../../core/log-session.ts'
import type { Clock, LogRecord, Position, TopicReader } from '../../core/ports.ts'
import { parseCommit } from '../../core/progress/commit-metadata.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { RetryTiers } from './existing-retry-tiers.ts'
import { isTopicMissing } from './is-kafka-error.ts'
import { type CommittedLedger, readLedgerCounts } from './read-ledger-counts.ts'

export interface LedgerSource extends RetryTiers {
  readonly commits: (groupId: string) => Promise<readonly Position[]>
  readonly sessions: WithLogSession
  readonly reader: TopicReader
  readonly topics: TopicNames
  readonly clock: Clock
}

interface Limits {
  /** When the reading stops, in monotonic milliseconds. */
  readonly until: number
  /** Maximum number of records read from the retry topics. */
  readonly records: number
}

/**
 * Reads the commits and retry records from which the ledger is computed. Keep this order: commits
 * of the events topic, commits of the retry topics, retry records. Otherwise, deliveries that move
 * to a retry topic during the reads would be missing.
 */
export async function readLedgerParts(
  source: LedgerSource,
  filter: LedgerFilter,
  { until, records }: Limits,
): Promise<LedgerParts> {
  const { commits, sessions, topics, clock } = source
  const isLate = (): boolean => clock.monotonic() >= until
  const events = (await commits(topics.dispatcherGroup)).filter(({ topic }) => topic === topics.events)
  const retries = (await commits(topics.retriesGroup)).filter(({ topic }) => topics.tierOf(topic) !== undefined)
  const ledgers: CommittedLedger[] = []
  let exactSince = 0
  for (const { topic, partition, offset, metadata } of [...events, ...retries]) {
    if (offset < 0) continue
    const tail = parseCommit(offset, metadata).ledger
    exactSince = Math.max(exactSince, tail?.exactSince ?? hourOf(clock.now()) + 1)
    if (tail !== undefined) ledgers.push({ topic, partition, tail })
  }
  const isWanted = (destination: string, hour: number): boolean => isInFilter(filter, destination, hour)
  const reading = { sessions, topic: topics.ledger, since: filter.since, isWanted, mustStop: isLate }
  const { counts, isComplete } = await readLedgerCounts(ledgers, reading)
  let read = 0
  const waiting = await readWaiting(source, retries, () => ++read > records || isLate())
  return { counts, waiting, exactSince, isComplete: isComplete && read <= records && !isLate() }
}

/**
 * Counts the records that wait in the retry topics. A missing topic counts as empty if only an
 * earlier retry schedule used it.
 */
async function readWaiting(
  { reader, topics, tiers, earlierTiers }: LedgerSource,
  commits: readonly Position[],
  mustStop: () => boolean,
): Promise<LedgerCounts> {
  const waiting = new LedgerCounts()
  const required = new Set(tiers.filter(tier => !earlierTiers.includes(tier)).map(topics.retry))
  const all = new Set([...tiers.map(topics.retry), ...commits.map(({ topic }) => topic)])
  const readTopic = async (topic: string): Promise<void> => {
    const from: number[] = []
    const done = new Map<number, ReadonlySet<number>>()
    for (const { partition, offset, metadata } of commits.filter(commit => commit.topic === topic)) {
      from[partition] = Math.max(0, offset)
      done.set(partition, parseCommit(offset, metadata).done)
    }
    const onRecord = (record: LogRecord): void => {
      if (done.get(record.partition)?.has(record.offset) === true) return
      const { destination = noDestination, origin = record, reason = '' } = parseDeliveryState(record.headers) ?? {}
      waiting.add(destination, hourOf(origin.timestamp), reason === '' ? 'replayed' : 'moved')
    }
    await reader.readToEnd(topic, onRecord, { from, mustStop }).catch((error: unknown) => {
      if (required.has(topic) || !isTopicMissing(error)) throw error
    })
  }
  await Promise.all([...all].map(readTopic))
  return waiting
}
