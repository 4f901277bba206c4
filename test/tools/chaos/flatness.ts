import { slope } from '../bench/statistics.ts'
import type { Examined } from './examined.ts'

/** What a process held at one moment. */
export interface Sample {
  readonly process: string
  /** Milliseconds. */
  readonly at: number
  /** Resident memory and V8's heap in MB; open descriptors; timers that are set. */
  readonly holds: Readonly<Record<Holding, number>>
}

export type Holding = 'resident' | 'heap' | 'descriptors' | 'timers'

/** How much each may grow: in an hour, and at any time, because a garbage collector leaves something over now and then. */
const mayGrow: Readonly<Record<Holding, { readonly perHour: number; readonly once: number; readonly unit: string }>> = {
  resident: { perHour: 6, once: 12, unit: ' MB' },
  heap: { perHour: 4, once: 8, unit: ' MB' },
  descriptors: { perHour: 1, once: 4, unit: '' },
  timers: { perHour: 2, once: 6, unit: '' },
}
/** Memory goes up and down between two collections: only the least of each window tells what stays. */
const windows = 10

/** Whether what each process holds stays the same as time goes by. Needs samples all along; how the time is cut up does not depend on how many. */
export function judgeFlatness(samples: readonly Sample[]): Examined {
  const measured: string[] = []
  const failures: string[] = []
  for (const [process, own] of Map.groupBy(samples, each => each.process)) {
    const figures: string[] = []
    const hours = (Math.max(...own.map(({ at }) => at)) - Math.min(...own.map(({ at }) => at))) / 3_600_000
    for (const [holding, { perHour, once, unit }] of Object.entries(mayGrow)) {
      const { level, growth } = trendOf(own.map(({ at, holds }) => ({ x: at, y: holds[holding as Holding] })))
      const slope = growth / hours
      const inWords = `${holding} ${round(level)}${unit}, ${slope < 0 ? '−' : '+'}${round(Math.abs(slope))} per hour`
      figures.push(inWords)
      if (growth > once + perHour * hours) failures.push(`${process} grows: ${inWords}`)
    }
    measured.push(`${process}: ${figures.join('; ')}`)
  }
  if (measured.length === 0) failures.push('no process was looked at')
  return { measured, failures }
}

const round = (value: number): number => Math.round(value * 10) / 10

/** What is held in the middle of the time, and how much more in the end than in the beginning, by the line through the least of each window. */
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
