import { type DispatcherVitals, dispatcherHealth, type Health } from '../../core/health.ts'
import type { Clock, LogConsumer } from '../../core/ports.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

interface Group {
  readonly partitions: { processors(): Iterable<PartitionProcessor> }
  readonly consumer: Pick<LogConsumer, 'silence' | 'inactivity' | 'isConfirmed'>
}

interface Deps {
  readonly clock: Clock
  readonly marks: Pick<SuppressionList, 'isCurrent' | 'age'>
  readonly groups: Readonly<Record<'dispatcher' | 'retries', Group>>
  readonly oldestOpenMs: () => number
  readonly unwritableTopics: () => readonly string[]
}

/** Collects the values that the health checks of the dispatcher use; of its groups the worst one counts. */
export function createVitals({ clock, marks, oldestOpenMs, unwritableTopics, groups: byName }: Deps) {
  const groups = Object.values(byName)
  let lastCallEndAt = Number.NEGATIVE_INFINITY
  return {
    noteCallEnd(): void {
      lastCallEndAt = clock.monotonic()
    },
    health: (phase: DispatcherVitals['phase']): Health =>
      dispatcherHealth({
        phase,
        silenceMs: Math.max(...groups.map(({ consumer }) => consumer.silence())),
        inactivityMs: Math.max(...groups.map(({ consumer }) => consumer.inactivity())),
        isConfirmed: groups.every(({ consumer }) => consumer.isConfirmed()),
        isSchemaMissing: groups.some(({ partitions }) =>
          [...partitions.processors()].some(processor => processor.isPausedFor('schema')),
        ),
        oldestOpenMs: oldestOpenMs(),
        sinceCallEndMs: clock.monotonic() - lastCallEndAt,
        unwritableTopics: unwritableTopics(),
        marks: { isCurrent: marks.isCurrent(), ageMs: marks.age() },
      }),
  }
}
