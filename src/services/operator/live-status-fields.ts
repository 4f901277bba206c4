import type { LiveProcess, SummedResults } from '../../core/live-status/status-sums-of-all-processes.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type {
  DestinationStatus,
  InstallationStatus,
  ShownRates,
  ShownResults,
} from '../../core/operator/installation-and-destination-status.ts'
import type { EpochMs } from '../../core/time.ts'
import type { StatusView } from '../live-status/status-view.ts'

/** Maximum number of destinations with an open circuit breaker in the installation status. */
const maxBreakers = 100

/** Returns the installation status from the status topic, with only the destinations that exist. */
export function liveInstallation(
  { sums }: StatusView,
  isKnown: (destination: string) => boolean,
  now: EpochMs,
): Pick<InstallationStatus, 'rates' | 'openBreakers' | 'openBreakerCount' | 'services'> {
  const processes = sums.processes(now)
  const openBreakers = sums.openBreakers(now).filter(isKnown)
  return {
    rates: ratesOf(processes),
    openBreakers: openBreakers.slice(0, maxBreakers),
    openBreakerCount: openBreakers.length,
    services: processes.map(({ instance, services, version, startedAt, seenAt, partitions }) => ({
      ...{ instance, services, version, startedAt: toIsoTimestamp(startedAt), seenAt: toIsoTimestamp(seenAt) },
      partitions,
    })),
  }
}

type LivePart = 'circuitBreaker' | 'requestsInProgress' | 'inMemory' | 'pace' | 'pausedUntil' | 'results'

export function liveDestination({ sums }: StatusView, id: string, now: EpochMs): Pick<DestinationStatus, LivePart> {
  const { breaker, nextProbeAt, requestsInProgress, inMemory, pace, pausedUntil } = sums.activityOf(id, now)
  const { lastHour, lastDay } = sums.resultsOf(id, now)
  return {
    circuitBreaker: {
      state: breaker,
      ...(nextProbeAt !== undefined && { nextProbeAt: toIsoTimestamp(nextProbeAt) }),
    },
    requestsInProgress,
    inMemory,
    ...(pace !== undefined && { pace }),
    // The last record of a process may still have a pause that is over.
    ...(pausedUntil !== undefined && pausedUntil > now && { pausedUntil: toIsoTimestamp(pausedUntil) }),
    results: { lastHour: shown(lastHour), lastDay: shown(lastDay) },
  }
}

const shown = ({ since, ...counts }: SummedResults): ShownResults => ({ since: toIsoTimestamp(since), ...counts })

function ratesOf(processes: readonly LiveProcess[]): ShownRates {
  const sum = (name: keyof LiveProcess['rates']): number =>
    Math.round(processes.reduce((total, { rates }) => total + rates[name], 0) * 10) / 10
  return {
    admittedPerSecond: sum('admitted'),
    deliveredPerSecond: sum('delivered'),
    failedPerSecond: sum('failed'),
  }
}
