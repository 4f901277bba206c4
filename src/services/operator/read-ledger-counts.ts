import { LedgerCounts } from '../../core/ledger/ledger-counts.ts'
import { type LedgerRecord, parseLedgerRecord, readChain } from '../../core/ledger/ledger-record-and-chain-reading.ts'
import type { LedgerTail } from '../../core/ledger/partition-ledger.ts'
import type { LogSession, OffsetRange, WithLogSession } from '../../core/log-session.ts'
import type { LogRecord, TopicPartition } from '../../core/ports.ts'
import { partitionKey } from '../../core/topic-partition-key.ts'
import { isTopicMissing } from './is-kafka-error.ts'

/** A partition, and the ledger (counts of deliveries) in the metadata of its last offset commit. */
export interface CommittedLedger extends TopicPartition {
  readonly tail: LedgerTail
}

interface Reading {
  readonly sessions: WithLogSession
  /** The ledger topic. */
  readonly topic: string
  /** The first hour to read, in hours since 1970. */
  readonly since: number
  readonly isWanted: (destination: string, hour: number) => boolean
  readonly mustStop: () => boolean
}

interface CountsRead {
  readonly counts: LedgerCounts
  /** Whether every ledger record was read. */
  readonly isComplete: boolean
}

/**
 * Number of partitions that are read concurrently. It limits the memory, because a ledger record
 * has up to 512 KiB.
 */
const concurrency = 8

/** Adds up the ledger counts of partitions, from their commits and ledger records. */
export async function readLedgerCounts(ledgers: readonly CommittedLedger[], reading: Reading): Promise<CountsRead> {
  const { sessions, since, isWanted } = reading
  const committed = new LedgerCounts()
  for (const { tail } of ledgers) committed.merge(tail.counts, isWanted)
  const left = ledgers.filter(({ tail }) => tail.last !== undefined && tail.newestHour >= since)
  if (left.length === 0) return { counts: committed, isComplete: true }
  try {
    const stored = await sessions(session => readAll(session, left, reading))
    stored.counts.merge(committed)
    return stored
  } catch (error) {
    // Without the ledger topic, return only the counts in the commits, which are most of the
    // counts.
    if (!isTopicMissing(error)) throw error
    return { counts: committed, isComplete: false }
  }
}

async function readAll(
  session: LogSession,
  ledgers: readonly CommittedLedger[],
  { topic, since, isWanted, mustStop }: Reading,
): Promise<CountsRead> {
  const ranges = await session.ranges(topic)
  const counts = new LedgerCounts()
  const left = [...ledgers]
  let isComplete = true
  const readNext = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const read = recordReader(session, topic, next, ranges[next.partition])
      const isRead = await readChain(next.tail, {
        since,
        recordAt: async offset => (mustStop() ? undefined : read(offset)),
        onCounts: found => counts.merge(found, isWanted),
      })
      isComplete &&= isRead
    }
  }
  const readers = Array.from({ length: concurrency }, readNext)
  await Promise.allSettled(readers)
  await Promise.all(readers)
  return { counts, isComplete }
}

function recordReader(session: LogSession, topic: string, of: TopicPartition, range: OffsetRange | undefined) {
  const key = partitionKey(of)
  return async (offset: number): Promise<LedgerRecord | 'expired' | undefined> => {
    if (range === undefined || offset >= range.end) return undefined
    if (offset < range.beginning) return 'expired'
    let found: LedgerRecord | undefined
    await session.read({ topic, partition: of.partition }, offset, offset + 1, (record: LogRecord) => {
      if (record.key?.toString() === key) found = parseLedgerRecord(record)
    })
    return found
  }
}
