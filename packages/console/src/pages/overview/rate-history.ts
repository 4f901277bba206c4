import type { InstallationStatus } from '../../api/response-types.ts'

/** The rates over time. `times` are in epoch seconds. All lists have the same length. */
export interface RateHistory {
  readonly times: readonly number[]
  readonly admitted: readonly number[]
  readonly delivered: readonly number[]
  readonly failed: readonly number[]
}

export const noRates: RateHistory = { times: [], admitted: [], delivered: [], failed: [] }

/** Maximum number of points: half an hour with one status every 5 seconds. */
const maxPoints = 360

/**
 * Adds the rates of a status. Ignores a status that has no rates, or that is not newer than the
 * last point.
 */
export function withRates(history: RateHistory, { at, rates }: Pick<InstallationStatus, 'at' | 'rates'>): RateHistory {
  const time = Date.parse(at) / 1000
  if (rates === undefined || !(time > (history.times.at(-1) ?? 0))) return history
  const add = (list: readonly number[], value: number): readonly number[] => [...list, value].slice(-maxPoints)
  return {
    times: add(history.times, time),
    admitted: add(history.admitted, rates.admittedPerSecond),
    delivered: add(history.delivered, rates.deliveredPerSecond),
    failed: add(history.failed, rates.failedPerSecond),
  }
}

/** Minimum time span of the chart, in seconds. */
const minSpan = 60

/** The first and the last time of the chart, in epoch seconds, at least `minSpan` apart. */
export const timesShown = (times: readonly number[]): [number, number] => {
  const first = times[0] ?? 0
  return [first, Math.max(times.at(-1) ?? 0, first + minSpan)]
}
