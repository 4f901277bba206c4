import { readFile } from 'node:fs/promises'
import { type CpuProfile, labelOf, packageOf, selfTimes, type Window } from './profile-self-times.ts'

export interface Profiled {
  readonly title: string
  readonly lines: readonly string[]
  readonly file: string
}

export interface Share {
  readonly name: string
  readonly ms: number
  /** Share of the CPU time without idle time, from 0 to 1. */
  readonly share: number
}

interface Summary {
  readonly busyMs: number
  readonly packages: readonly Share[]
  readonly functions: readonly Share[]
}

const shownPackages = 25
const shownFunctions = 30

/**
 * Summarises the CPU profile of a run's measured part, without start, warm-up and end. Empty
 * without a profile.
 */
export async function profileOf(
  title: string,
  run: { readonly profile: string | undefined; readonly window: Window },
): Promise<readonly Profiled[]> {
  if (run.profile === undefined) return []
  const profile = JSON.parse(await readFile(run.profile, 'utf8')) as CpuProfile
  return [{ title, lines: linesOf(summarise(profile, run.window)), file: run.profile }]
}

function linesOf({ busyMs, packages, functions }: Summary): readonly string[] {
  const lineOf = ({ name, ms, share }: Share): string =>
    `${(share * 100).toFixed(1).padStart(5)} %  ${Math.round(ms).toString().padStart(6)} ms  ${name}`
  return [
    `  ${Math.round(busyMs)} ms of CPU in the steady part, self time by package:`,
    ...packages.slice(0, shownPackages).map(lineOf),
    '  by function:',
    ...functions.slice(0, shownFunctions).map(lineOf),
  ]
}

/** Largest first. */
export function summarise(profile: CpuProfile, window: Window): Summary {
  const times = selfTimes(profile, window)
  const byPackage = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let busy = 0
  for (const { id, callFrame } of profile.nodes) {
    const spent = times.get(id)
    if (spent === undefined) continue
    busy += spent
    add(byPackage, packageOf(callFrame.url) || callFrame.functionName, spent)
    add(byFunction, labelOf(callFrame), spent)
  }
  const sharesOf = (sums: ReadonlyMap<string, number>): readonly Share[] =>
    [...sums].map(([name, spent]) => ({ name, ms: spent / 1_000, share: spent / busy })).sort((a, b) => b.ms - a.ms)
  return { busyMs: busy / 1_000, packages: sharesOf(byPackage), functions: sharesOf(byFunction) }
}

function add(times: Map<string, number>, name: string, spent: number): void {
  times.set(name, (times.get(name) ?? 0) + spent)
}
