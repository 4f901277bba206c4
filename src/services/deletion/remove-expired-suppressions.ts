import type { Clock, Logger } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'
import type { SuppressionList } from './suppression-list.ts'

/**
 * Time between two compactions. A compaction writes the records of users again, without expired
 * suppressions. (This is not Kafka's log compaction.)
 */
const compactEvery = durationMs(10 * 60_000)

/** Maximum number of users that one compaction handles. */
const maxUsersPerRun = 500
/**
 * Time until the next compaction when expired suppressions are left, or the list is not up to date.
 */
const continueAfter = durationMs(1_000)

interface Deps {
  readonly suppressions: Pick<SuppressionList, 'compact' | 'isCurrent'>
  /** Whether this process compacts the topic. One process is enough; two do no harm. */
  readonly compactsTopic: () => boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Removes expired suppressions from the suppressions topic, for at most 500 users per run. */
export function createSuppressionCompaction({ suppressions, compactsTopic, clock, logger }: Deps): PeriodicTask {
  const run = async (): Promise<DurationMs> =>
    compactsTopic() && !(await isCompacted()) ? continueAfter : compactEvery

  /** Resolves with false when the next compaction must follow after one second. */
  async function isCompacted(): Promise<boolean> {
    if (!suppressions.isCurrent()) return false
    try {
      return (await suppressions.compact(maxUsersPerRun)) < maxUsersPerRun
    } catch (error) {
      const fields = { error: (error as Error).message }
      logger.warn(
        fields,
        'hookline could not remove the records of old user deletions from the suppressions topic (see "error"); it tries again after 10 minutes; deliveries and user deletions are not affected',
      )
      return true
    }
  }

  return createPeriodicTask({ clock, firstRunAfter: compactEvery, run })
}
