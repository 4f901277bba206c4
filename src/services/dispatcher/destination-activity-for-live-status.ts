import { getsAttempts, type Routing } from '../../core/delivery/route.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
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
  readonly routing: () => Pick<Routing, 'destinations'>
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
}

/** Creates the dispatcher's part of the status of its process. */
export const createActivity = ({ results, starter, processors, routing, clock }: Deps): DispatcherActivity => ({
  results,
  activityOf: destination => activityOf(starter.findState(destination), getsAttempts(destination, routing()), clock),
  partitions: () => [...processors()].length,
})

/**
 * Pauses up to this length (ms) are not shown, because they end before the status record is read.
 */
const { max: shortPauseMs } = flowLimits.slowDown.backOffMs

/**
 * The activity of a destination; `undefined` if it has none. If the destination gets no attempts
 * (`isAttempted` is false), an open circuit breaker counts as closed. Otherwise it would be shown
 * as open forever, because only an attempt can close it.
 */
export function activityOf(
  state: Pick<DestinationState, 'breaker' | 'queue' | 'slowDown' | 'calls'> | undefined,
  isAttempted: boolean,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): DestinationActivity | undefined {
  if (state === undefined) return undefined
  const { breaker, queue, slowDown, calls } = state
  const isOpen = breaker.isOpen && isAttempted
  if (calls === 0 && queue.queued === 0 && !isOpen && !slowDown.isActive) return undefined
  const now = clock.monotonic()
  const pace = slowDown.paceAt(now)
  const pausedMs = slowDown.msPaused(now)
  const nextProbe = isOpen ? breaker.openUntil : undefined
  return {
    breaker: isOpen ? (breaker.isProbing ? 'probing' : 'open') : 'closed',
    nextProbeAt: nextProbe === undefined ? undefined : inSeconds(clock.now() + nextProbe - now),
    requestsInProgress: calls,
    inMemory: queue.queued,
    pace: pace === undefined ? undefined : Math.round(pace * 10) / 10,
    pausedUntil: pausedMs > shortPauseMs ? inSeconds(clock.now() + pausedMs) : undefined,
  }
}

/**
 * Rounds a time to seconds, so that small differences do not cause a new record of the status
 * topic.
 */
const inSeconds = (at: number) => epochMs(Math.round(at / 1_000) * 1_000)
