import type { ResultCounts } from '../../core/live-status/result-counts.ts'
import type { DestinationActivity } from '../../core/live-status/status-record.ts'
import type { Clock } from '../../core/ports.ts'
import { epochMs } from '../../core/time.ts'
import type { DispatcherActivity } from '../live-status/status-writer.ts'
import type { AttemptStarter } from './attempt-starter.ts'
import type { DestinationState } from './delivery.ts'

interface Deps {
  readonly results: ResultCounts
  readonly starter: Pick<AttemptStarter, 'findState'>
  /** The partitions of the events topic that this process owns. */
  readonly processors: () => Iterable<unknown>
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
}

/** What the dispatcher knows for the status of its process. */
export const createActivity = ({ results, starter, processors, clock }: Deps): DispatcherActivity => ({
  results,
  activityOf: destination => activityOf(starter.findState(destination), clock),
  partitions: () => [...processors()].length,
})

/** What this process knows about a destination now; `undefined` while the destination is at rest. */
export function activityOf(
  state: Pick<DestinationState, 'breaker' | 'queue' | 'slowDown' | 'calls'> | undefined,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): DestinationActivity | undefined {
  if (state === undefined) return undefined
  const { breaker, queue, slowDown, calls } = state
  if (calls === 0 && queue.queued === 0 && !breaker.isOpen && !slowDown.isActive) return undefined
  const now = clock.monotonic()
  const pace = slowDown.paceAt(now)
  return {
    breaker: breaker.isOpen ? (breaker.isProbing ? 'probing' : 'open') : 'closed',
    nextProbeAt: breaker.openUntil === undefined ? undefined : inSeconds(clock.now() + breaker.openUntil - now),
    requestsInProgress: calls,
    inMemory: queue.queued,
    pace: pace === undefined ? undefined : Math.round(pace * 10) / 10,
  }
}

/** Rounded to a second, so that a value that does not change is not written again. */
const inSeconds = (at: number) => epochMs(Math.round(at / 1_000) * 1_000)
