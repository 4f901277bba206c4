import { parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import type { LogSession } from '../../core/log-session.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { DestinationWaiting } from '../../core/operator/installation-and-destination-status.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { LogRecord } from '../../core/ports.ts'
import { parseCommit } from '../../core/progress/commit-metadata.ts'
import { epochMs, formatDuration } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { existingTiers, type RetryTiers } from './existing-retry-tiers.ts'

/**
 * Number of offsets in one read. It is small, because the budget of the request is checked only
 * between reads.
 */
const chunkOffsets = 2_000

interface Deps extends RetryTiers {
  readonly topics: Pick<TopicNames, 'retriesGroup' | 'retry'>
}

export interface WaitingDeliveries {
  readonly waiting: readonly DestinationWaiting[]
  /** Whether the budget was spent before all records were read, so the counts can be too low. */
  readonly isPartial: boolean
}

/**
 * Counts the retry records of a destination that wait or are in progress, within one budget for all
 * retry topics.
 */
export async function readWaitingDeliveries(
  session: LogSession,
  deps: Deps,
  destination: string,
  budget: ReadBudget,
): Promise<WaitingDeliveries> {
  const { topics } = deps
  const tiers = await existingTiers(session, deps)
  const reads = tiers.map(async tier => {
    const found = { records: 0, oldest: Number.POSITIVE_INFINITY }
    const onRecord = ({ headers, timestamp }: LogRecord): void => {
      if (parseDeliveryState(headers)?.destination !== destination) return
      found.records++
      found.oldest = Math.min(found.oldest, timestamp)
    }
    const isComplete = await readUncommitted(session, topics.retriesGroup, topics.retry(tier), onRecord, budget)
    return { tier, isComplete, ...found }
  })
  // All reads are awaited even if one fails: the log session must not be closed during a request.
  await Promise.allSettled(reads)
  const all = await Promise.all(reads)
  return {
    waiting: all
      .filter(({ records }) => records > 0)
      .map(({ tier, records, oldest }) => ({
        ...{ tier: formatDuration(tier), records, oldestAt: toIsoTimestamp(epochMs(oldest)) },
      })),
    isPartial: !all.every(({ isComplete }) => isComplete),
  }
}

/**
 * Reads the records from the committed offset, except those that the metadata of the commit marks
 * as done. Returns false if the budget was spent before the end of the topic.
 */
async function readUncommitted(
  session: LogSession,
  groupId: string,
  topic: string,
  onRecord: (record: LogRecord) => void,
  budget: ReadBudget,
): Promise<boolean> {
  // Read the commits before the ends. Records that are committed or added between the two reads are
  // then counted: the count may be too high, but no waiting delivery is missed.
  const commits = await session.commits(groupId, topic)
  const ranges = await session.ranges(topic)
  for (const [partition, { beginning, end }] of ranges.entries()) {
    const committed = Math.max(0, commits[partition]?.offset ?? 0)
    const { done } = parseCommit(committed, commits[partition]?.metadata ?? '')
    const first = Math.max(beginning, committed)
    for (let from = first; from < end; from += chunkOffsets) {
      if (budget.isSpent) return false
      let records = 0
      await session.read({ topic, partition }, from, Math.min(end, from + chunkOffsets), record => {
        records++
        if (!done.has(record.offset)) onRecord(record)
      })
      budget.count(records)
    }
  }
  return true
}
