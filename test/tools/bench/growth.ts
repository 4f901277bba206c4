import { bars, type Finding } from './bars.ts'
import type { Drain } from './drain.ts'
import { type Profiled, profileOf } from './profile.ts'
import type { Bench, Figures, Outcome } from './rows/row.ts'
import { median } from './statistics.ts'

interface Named {
  /** `100 destinations` */
  readonly name: string
}

/** One size of what grows. */
export interface Step extends Named {
  /** In so many of the rounds, the first ones; all. */
  readonly rounds?: number
  readonly run: () => Promise<Drain>
}

/** What a round has measured, by the step's name. */
export type Round = ReadonlyMap<string, Drain>

/** All steps in turn, in every round: what slows the machine down meets them all. */
export async function roundsOf(bench: Pick<Bench, 'runs' | 'say'>, steps: readonly Step[]): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const drains = new Map<string, Drain>()
    for (const { name, rounds: most = bench.runs, run } of steps) {
      if (round > most) continue
      const drain = await run()
      drains.set(name, drain)
      tell(bench, name, round, drain)
    }
    rounds.push(drains)
  }
  return rounds
}

export function tell({ say }: Pick<Bench, 'say'>, name: string, run: number, drain: Drain): void {
  const { perSecond, peakMb } = drain
  say(
    `${name}, run ${run}: ${costOf(drain).toFixed(1)} µs CPU a delivery, ${Math.round(perSecond)} / s, ${Math.round(peakMb)} MB`,
  )
}

/** Microseconds of CPU a delivery. */
const costOf = ({ perCpuSecond }: Pick<Drain, 'perCpuSecond'>): number => 1e6 / perCpuSecond

/** What a delivery costs at each step, to the first one: the median of the rounds, each with what ran beside it. */
export function growthOutcome(forwarder: string, steps: readonly Named[], rounds: readonly Round[]): Outcome {
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
    figures.push({ '': step.name, 'µs CPU a delivery': cost, 'peak MB': peakMb, lost, duplicates })
    findings.push({ subject, what: 'CPU a delivery', unit: 'µs', measured: cost })
    if (smallest !== undefined && step !== smallest)
      findings.push({
        ...{ subject, what: `of that with ${smallest.name}`, measured: costRatio(step, smallest, rounds) },
        ...bars.growth,
      })
    findings.push(
      { subject, what: 'peak memory', unit: 'MB', measured: peakMb },
      { subject, what: 'lost', measured: lost, ...bars.lost },
      { subject, what: 'delivered twice', measured: duplicates, ...bars.duplicates },
    )
  }
  return { figures, findings }
}

/** The same, and where the time went when the bench profiles. */
export const growthOf = async (
  forwarder: string,
  steps: readonly Named[],
  rounds: readonly Round[],
): Promise<Outcome> => ({
  ...growthOutcome(forwarder, steps, rounds),
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

/** CPU a delivery at one step, as a multiple of that at another. @throws RangeError when they were never measured in one round */
export function costRatio(step: Named, other: Named, rounds: readonly Round[]): number {
  const ratios = rounds.flatMap(round => {
    const [own, reference] = [round.get(step.name), round.get(other.name)]
    return own === undefined || reference === undefined ? [] : [costOf(own) / costOf(reference)]
  })
  return median(ratios)
}

/** Of the transports the one that costs least: beside it what grows is largest. */
export const cheapestOf = ({ transports }: Pick<Bench, 'transports'>): string =>
  transports.find(each => each === 'undici') ?? transports[0] ?? ''
