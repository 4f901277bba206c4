import { type DispatcherVitals, dispatcherHealth, type Health } from '../../core/health.ts'
import type { Clock, LogConsumer } from '../../core/ports.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

interface Group {
  readonly partitions: { processors(): Iterable<PartitionProcessor> }
  readonly consumer: Pick<LogConsumer, 'timeSinceContact' | 'inactivity' | 'holdsLease'>
}

interface Deps {
  readonly clock: Clock
  readonly suppressions: Pick<SuppressionList, 'isCurrent' | 'age'>
  readonly groups: Readonly<Record<'dispatcher' | 'retries', Group>>
  readonly oldestInProgressMs: () => number
  readonly unwritableTopics: () => readonly string[]
}

/**
 * Collects the values for the health checks. If both consumer groups have a value, the worse one is
 * used.
 */
export function createVitals({ clock, suppressions, oldestInProgressMs, unwritableTopics, groups: byName }: Deps) {
  const groups = Object.values(byName)
  let lastRequestEndAt = Number.NEGATIVE_INFINITY
  return {
    noteRequestEnd(): void {
      lastRequestEndAt = clock.monotonic()
    },
    health: (phase: DispatcherVitals['phase']): Health =>
      dispatcherHealth({
        phase,
        silenceMs: Math.max(...groups.map(({ consumer }) => consumer.timeSinceContact())),
        inactivityMs: Math.max(...groups.map(({ consumer }) => consumer.inactivity())),
        holdsLease: groups.every(({ consumer }) => consumer.holdsLease()),
        isSchemaMissing: groups.some(({ partitions }) =>
          [...partitions.processors()].some(processor => processor.isPausedFor('schema')),
        ),
        oldestInProgressMs: oldestInProgressMs(),
        sinceLastRequestEndMs: clock.monotonic() - lastRequestEndAt,
        unwritableTopics: unwritableTopics(),
        suppressionList: { isCurrent: suppressions.isCurrent(), ageMs: suppressions.age() },
      }),
  }
}
