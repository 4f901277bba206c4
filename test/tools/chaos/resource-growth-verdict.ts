import { slope } from '../bench/statistics.ts'
import type { CheckResult } from './result-of-a-check.ts'

export interface Sample {
  readonly process: string
  /** In ms of `performance.now()`. */
  readonly at: number
  /** Resident memory and V8's heap in MB, open descriptors, active timers. */
  readonly holds: Readonly<Record<Holding, number>>
}

export type Holding = 'resident' | 'heap' | 'descriptors' | 'timers'

/** Permitted growth: `once`, plus `perHour` for each hour. */
const mayGrow: Readonly<Record<Holding, { readonly perHour: number; readonly once: number; readonly unit: string }>> = {
  resident: { perHour: 6, once: 12, unit: ' MB' },
  heap: { perHour: 4, once: 8, unit: ' MB' },
  descriptors: { perHour: 1, once: 4, unit: '' },
  timers: { perHour: 2, once: 6, unit: '' },
}
const names: Readonly<Record<Holding, string>> = {
  resident: 'resident memory',
  heap: 'heap',
  descriptors: 'file descriptors',
  timers: 'timers',
}
/**
 * Number of equal time spans of a run. Only the minimum of each counts, because higher values
 * include garbage.
 */
const windows = 10

/** Judges the growth of each resource by its minima in the time spans (`windows`). */
export function judgeFlatness(samples: readonly Sample[]): CheckResult {
  const measured: string[] = []
  const failures: string[] = []
  for (const [process, own] of Map.groupBy(samples, each => each.process)) {
    const figures: string[] = []
    const hours = (Math.max(...own.map(({ at }) => at)) - Math.min(...own.map(({ at }) => at))) / 3_600_000
    for (const [holding, { perHour, once, unit }] of Object.entries(mayGrow)) {
      const { level, growth } = trendOf(own.map(({ at, holds }) => ({ x: at, y: holds[holding as Holding] })))
      const slope = growth / hours
      const inWords = `${names[holding as Holding]} ${round(level)}${unit} (${slope < 0 ? '−' : '+'}${round(Math.abs(slope))} per hour)`
      figures.push(inWords)
      if (growth > once + perHour * hours) failures.push(`${process} grows too fast: ${inWords}`)
    }
    measured.push(`${process}: ${figures.join(', ')}`)
  }
  if (measured.length === 0) failures.push('no process was sampled')
  return { measured, failures }
}

const round = (value: number): number => Math.round(value * 10) / 10

/**
 * Fits a line to the minima. Returns its value in the middle (`level`) and its growth over the
 * whole time.
 */
function trendOf(points: readonly { readonly x: number; readonly y: number }[]) {
  const [start, end] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))]
  const windowOf = (x: number): number =>
    Math.min(windows - 1, Math.floor((windows * (x - start)) / (end - start || 1)))
  const least = [...Map.groupBy(points, ({ x }) => windowOf(x))].map(([window, own]) => ({
    x: (window + 0.5) / windows,
    y: Math.min(...own.map(({ y }) => y)),
  }))
  const level = least.reduce((sum, { y }) => sum + y, 0) / least.length
  return { level, growth: slope(least) }
}
