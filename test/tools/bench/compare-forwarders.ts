import type { Finding } from './bounds.ts'
import { type Drain, drain } from './drain-topic.ts'
import type { Forwarder } from './forwarders/forwarder.ts'
import { createInstallation, type Installation } from './installation-topics.ts'
import { type Profiled, profileOf } from './profile-summary.ts'
import type { Bench, Figures, Outcome } from './rows/row.ts'
import { median } from './statistics.ts'
import { variantOf } from './variant-names.ts'

/**
 * A comparison of forwarders: programs that read events from a topic and send them as requests.
 * Each one delivers the same events.
 */
export interface Race {
  readonly forwarders: readonly Forwarder[]
  readonly count: number
  readonly cases: readonly Case[]
  readonly findingsOf: (name: string, at: Case, rounds: Rounds) => readonly Finding[]
}

export async function raced(bench: Bench, race: Race): Promise<Outcome> {
  const { forwarders, count, cases } = race
  bench.say(`filling a topic with ${count} events for ${forwarders.map(({ name }) => name).join(', ')}`)
  const installation = await createInstallation(bench.stage)
  await installation.fill(count)
  const outcomes: Outcome[] = []
  for (const each of cases) outcomes.push(await compare(bench, installation, race, each))
  await installation.close()
  return joined(outcomes)
}

export const joined = (outcomes: readonly Outcome[]): Outcome => ({
  findings: outcomes.flatMap(({ findings }) => findings),
  figures: outcomes.flatMap(({ figures }) => figures),
  profiles: outcomes.flatMap(({ profiles = [] }) => profiles),
})

export interface Case {
  readonly delayMs: number
  readonly inFlight: number
}

async function compare(
  bench: Bench,
  installation: Installation,
  { forwarders, findingsOf }: Race,
  at: Case,
): Promise<Outcome> {
  const rounds: ReadonlyMap<string, Drain>[] = []
  const profiles: Profiled[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const drains = new Map<string, Drain>()
    // All forwarders run in every round, so a change of the machine's speed affects them equally.
    for (const forwarder of forwarders) {
      const job = { stage: bench.stage, installation, inFlight: at.inFlight, profile: bench.profile }
      const run = await drain(forwarder, job, { count: installation.appended(), delayMs: at.delayMs })
      await installation.forgetPositions()
      drains.set(forwarder.name, run)
      bench.say(lineOf(forwarder.name, at, round, run))
      profiles.push(...(await profileOf(variantOf.delivery(forwarder.name, at.delayMs), run)))
    }
    rounds.push(drains)
  }
  return {
    findings: forwarders.flatMap(({ name }) => findingsOf(name, at, rounds)),
    figures: forwarders.map(({ name }) => figuresOf(name, at, rounds)),
    profiles,
  }
}

export type Rounds = readonly ReadonlyMap<string, Drain>[]

/** Median of the rounds. */
export const rateOf = (name: string, rounds: Rounds): number =>
  Math.round(median(drainsOf(name, rounds).map(({ perCpuSecond }) => perCpuSecond)))

/** Median of the rounds, in MB. */
export const peakOf = (name: string, rounds: Rounds): number =>
  Math.round(median(drainsOf(name, rounds).map(({ peakMb }) => peakMb)))

export const drainsOf = (name: string, rounds: Rounds): readonly Drain[] =>
  rounds.flatMap(round => round.get(name) ?? [])

function figuresOf(name: string, { delayMs, inFlight }: Case, rounds: Rounds): Figures {
  const drains = drainsOf(name, rounds)
  const middle = (of: (drain: Drain) => number): number => median(drains.map(of))
  return {
    forwarder: name,
    'response after ms': delayMs,
    'requests in progress': inFlight,
    'deliveries / CPU s': rateOf(name, rounds),
    'deliveries / s': Math.round(middle(({ perSecond }) => perSecond)),
    'peak MB': peakOf(name, rounds),
    'first delivery after s': middle(({ firstAfter }) => firstAfter),
    lost: Math.max(...drains.map(({ lost }) => lost)),
    duplicates: Math.max(...drains.map(({ duplicates }) => duplicates)),
  }
}

/** The median of each round's ratio of deliveries per CPU second. */
export const ratio = (name: string, other: string, rounds: Rounds): number =>
  median(rounds.map(round => (round.get(name)?.perCpuSecond ?? 0) / (round.get(other)?.perCpuSecond ?? Number.NaN)))

const lineOf = (name: string, { delayMs, inFlight }: Case, round: number, run: Drain): string =>
  `${variantOf.delivery(name, delayMs)}, ${inFlight} requests in progress, run ${round}: ` +
  `${Math.round(run.perCpuSecond)} deliveries per CPU second, ${Math.round(run.perSecond)} per second, ` +
  `peak memory ${Math.round(run.peakMb)} MB, ${run.lost} lost, ${run.duplicates} duplicated`
