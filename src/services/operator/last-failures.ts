import { decodeRecordedAttempt } from '../../core/delivery/attempt-details-and-recording-rule.ts'
import type { LogSession } from '../../core/log-session.ts'
import { shownAttempts } from '../../core/operator/destination-timeline.ts'
import type { FailedAttempt } from '../../core/operator/installation-and-destination-status.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { RecordedAttempts } from '../../core/settings/schema-of-attempts-topic.ts'
import type { TopicNames } from '../../core/topics.ts'
import { readNewestFirst } from './read-newest-first.ts'

/** Maximum number of failed attempts in the status of a destination. */
const maxFailures = 50

export interface LastFailures {
  /** Newest first. Absent when attempts are not recorded. */
  readonly lastFailures?: readonly FailedAttempt[]
  /** Whether failures may be missing, because the topic was not read completely. */
  readonly isPartial: boolean
}

/** Reads the last failed attempts of one destination from the attempts topic. */
export async function readLastFailures(
  session: LogSession,
  { topics, recorded }: { readonly topics: Pick<TopicNames, 'attempts'>; readonly recorded: RecordedAttempts },
  destination: string,
  budget: ReadBudget,
): Promise<LastFailures> {
  if (recorded === 'off') return { isPartial: false }
  const ranges = await session.ranges(topics.attempts)
  const id = Buffer.from(JSON.stringify(destination))
  const { found, isComplete } = await readNewestFirst(session, {
    ...{ topic: topics.attempts, budget, limit: maxFailures },
    parts: ranges.map(({ beginning, end }, partition) => ({ partition, from: beginning, to: end })),
    select({ value }) {
      // Searching a record for the destination's id is faster than parsing the record.
      const attempt = value?.includes(id) ? decodeRecordedAttempt(value.toString()) : undefined
      const isFailure = attempt?.destination === destination && attempt.decision !== 'delivered'
      return isFailure && attempt.kind !== 'result' ? attempt : undefined
    },
  })
  const failures = found.flatMap(({ item }) =>
    shownAttempts(item).map(shown => ({ messageId: item.messageId, sourceId: item.source, type: item.type, ...shown })),
  )
  return {
    lastFailures: failures.slice(0, maxFailures),
    isPartial: !isComplete && found.length < maxFailures,
  }
}
