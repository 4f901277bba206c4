import type { LogSession } from '../../core/log-session.ts'
import type { DurationMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { isTopicMissing } from './is-kafka-error.ts'

/** The retry topics that existed when the operator service started. */
export interface RetryTiers {
  /** Shortest first. */
  readonly tiers: readonly DurationMs[]
  /** The tiers that are not in the current schedule. An operator may delete their topics later. */
  readonly earlierTiers: readonly DurationMs[]
}

/** Returns the tiers whose topics exist. */
export async function existingTiers(
  session: LogSession,
  { tiers, earlierTiers, topics }: RetryTiers & { readonly topics: Pick<TopicNames, 'retry'> },
): Promise<readonly DurationMs[]> {
  const deleted = new Set<DurationMs>()
  for (const tier of earlierTiers) {
    try {
      await session.ranges(topics.retry(tier))
    } catch (error) {
      if (!isTopicMissing(error)) throw error
      deleted.add(tier)
    }
  }
  return tiers.filter(tier => !deleted.has(tier))
}
