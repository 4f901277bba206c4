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

/** How much each may grow from the beginning to the end: what a garbage collector leaves over now and then is no leak. */
const mayGrow: Readonly<Record<Holding, { readonly by: number; readonly share: number; readonly unit: string }>> = {
  resident: { by: 25, share: 0.1, unit: ' MB' },
  heap: { by: 15, share: 0.15, unit: ' MB' },
  descriptors: { by: 5, share: 0, unit: '' },
  timers: { by: 10, share: 0.1, unit: '' },
}
/** Memory goes up and down between two collections: only the least of each window tells what stays. */
const windows = 10

/** Whether what each process holds stays the same as time goes by. Needs samples all along; how the time is cut up does not depend on how many. */
export function judgeFlatness(samples: readonly Sample[]): Examined {
  const measured: string[] = []
  const failures: string[] = []
  for (const [process, own] of Map.groupBy(samples, each => each.process)) {
    const figures: string[] = []
    for (const [holding, { by, share, unit }] of Object.entries(mayGrow)) {
      const { level, growth } = trendOf(own.map(({ at, holds }) => ({ x: at, y: holds[holding as Holding] })))
      const inWords = `${holding} ${round(level)}${unit}, ${growth < 0 ? '−' : '+'}${round(Math.abs(growth))} in all`
      figures.push(inWords)
      if (growth > Math.max(by, share * level)) failures.push(`${process} grows: ${inWords}`)
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
