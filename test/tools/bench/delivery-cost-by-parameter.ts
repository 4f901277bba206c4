import { bounds, type Finding } from './bounds.ts'
import type { Drain } from './drain-topic.ts'
import type { FigureName } from './figure-names.ts'
import { type Profiled, profileOf } from './profile-summary.ts'
import type { Bench, Figures, Outcome } from './rows/row.ts'
import { median } from './statistics.ts'

interface Named {
  /** For example `100 destinations`. */
  readonly name: string
}

/**
 * One measurement, with one value of the parameter that the row (an experiment of the bench)
 * varies.
 */
export interface Step extends Named {
  /** The step runs in this number of rounds, from the first one. Default: all rounds. */
  readonly rounds?: number
  readonly run: () => Promise<Drain>
}

export type Round = ReadonlyMap<string, Drain>

/** Runs all steps in every round, so a change of the machine's speed affects them equally. */
export async function roundsOf(bench: Pick<Bench, 'runs' | 'say'>, steps: readonly Step[]): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const drains = new Map<string, Drain>()
    for (const { name, rounds: most = bench.runs, run } of steps) {
      if (round > most) continue
      const drain = await run()
      drains.set(name, drain)
      printDrain(bench, name, round, drain)
    }
    rounds.push(drains)
  }
  return rounds
}

export function printDrain({ say }: Pick<Bench, 'say'>, name: string, run: number, drain: Drain): void {
  const { perSecond, peakMb } = drain
  say(
    `${name}, run ${run}: ${costOf(drain).toFixed(1)} µs CPU per delivery, ${Math.round(perSecond)} deliveries per second, peak memory ${Math.round(peakMb)} MB`,
  )
}

/** In µs of CPU time per delivery. */
const costOf = ({ perCpuSecond }: Pick<Drain, 'perCpuSecond'>): number => 1e6 / perCpuSecond

/**
 * Computes the CPU time of a delivery per step. `ratio` names the figure that compares it with the
 * first step.
 */
export function costByStep(
  forwarder: string,
  steps: readonly Named[],
  rounds: readonly Round[],
  ratio?: FigureName,
): Outcome {
  const [smallest] = steps
  const figures: Figures[] = []
  const findings: Finding[] = []
  for (const step of steps) {
    const subject = `${forwarder}, ${step.name}`
    const drains = drainsOf(step, rounds)
    const cost = median(drains.map(costOf))
    const worst = (of: (drain: Drain) => number): number => Math.max(...drains.map(of))
    const peakMb = Math.round(median(drains.map(drain => drain.peakMb)))
    const [lost, duplicates] = [worst(drain => drain.lost), worst(drain => drain.duplicates)]
    figures.push({ '': step.name, 'µs CPU per delivery': cost, 'peak MB': peakMb, lost, duplicates })
    findings.push({ subject, what: 'CPU per delivery', unit: 'µs', measured: cost })
    if (ratio !== undefined && smallest !== undefined && step !== smallest)
      findings.push({ subject, what: ratio, measured: costRatio(step, smallest, rounds), ...bounds.growth })
    findings.push(
      { subject, what: 'peak memory', unit: 'MB', measured: peakMb },
      { subject, what: 'lost', measured: lost, ...bounds.lost },
      { subject, what: 'duplicated', measured: duplicates, ...bounds.duplicates },
    )
  }
  return { figures, findings }
}

export const costByStepWithProfiles = async (
  forwarder: string,
  steps: readonly Named[],
  rounds: readonly Round[],
  ratio: FigureName,
): Promise<Outcome> => ({
  ...costByStep(forwarder, steps, rounds, ratio),
  profiles: await profilesOf(forwarder, rounds),
})

async function profilesOf(forwarder: string, rounds: readonly Round[]): Promise<readonly Profiled[]> {
  const profiles: Profiled[] = []
  for (const round of rounds)
    for (const [name, drain] of round) profiles.push(...(await profileOf(`${forwarder}, ${name}`, drain)))
  return profiles
}

const drainsOf = ({ name }: Named, rounds: readonly Round[]): readonly Drain[] =>
  rounds.flatMap(round => round.get(name) ?? [])

/**
 * The median ratio of the CPU times per delivery. @throws RangeError when no round has both steps
 */
export function costRatio(step: Named, other: Named, rounds: readonly Round[]): number {
  const ratios = rounds.flatMap(round => {
    const [own, reference] = [round.get(step.name), round.get(other.name)]
    return own === undefined || reference === undefined ? [] : [costOf(own) / costOf(reference)]
  })
  return median(ratios)
}

/**
 * The HTTP client with the lowest CPU cost. With it, Hookline's own work has the largest share of
 * the cost.
 */
export const cheapestOf = ({ transports }: Pick<Bench, 'transports'>): string =>
  transports.find(each => each === 'undici') ?? transports[0] ?? ''
