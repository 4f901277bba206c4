import { startGuarded } from '../../../deploy/tools/local/guarded-process.ts'
import type { Finding } from './bounds.ts'
import { pinned } from './cpu-pinning.ts'
import { type Drain, drain } from './drain-topic.ts'
import type { Forwarder } from './forwarders/forwarder.ts'
import { hostUrls } from './host-urls.ts'
import { createInstallation, type Installation } from './installation-topics.ts'
import { type Profiled, profileOf } from './profile-summary.ts'
import type { Bench, Figures, Outcome } from './rows/row.ts'
import { median } from './statistics.ts'
import type { Stage } from './test-bed.ts'
import { variantOf } from './variant-names.ts'

/**
 * A comparison of forwarders: programs that send the events of a topic as requests. All deliver the
 * same events.
 */
export interface Race {
  readonly forwarders: readonly Forwarder[]
  readonly count: number
  readonly cases: readonly Case[]
  /** The events go to this number of hosts in turn. Default: 1. */
  readonly hosts?: number
  readonly findingsOf: (name: string, at: Case, rounds: Rounds) => readonly Finding[]
}

export async function raced(bench: Bench, race: Race): Promise<Outcome> {
  const { forwarders, count, cases, hosts = 1 } = race
  bench.say(`filling a topic with ${count} events for ${forwarders.map(({ name }) => name).join(', ')}`)
  const installation = await createInstallation(bench.stage, { sources: hosts })
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
  /** A response closes its connection if the connection is at least this old. Default: never. */
  readonly connectionLifeMs?: number
  /** Whether another process uses as much as possible of the forwarder's core. */
  readonly isCoreShared?: boolean
  /** Last part of the names of variants, for example `1,000 hosts`. */
  readonly name?: string
}

async function compare(
  bench: Bench,
  installation: Installation,
  { forwarders, hosts = 1, findingsOf }: Race,
  at: Case,
): Promise<Outcome> {
  const urls = hostUrls(bench.stage.receiver.url, hosts)
  const targets = installation.sourceIds.map((sourceId, index) => ({ sourceId, url: urls[index] ?? '' }))
  const rounds: ReadonlyMap<string, Drain>[] = []
  const profiles: Profiled[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const drains = new Map<string, Drain>()
    // All forwarders run in every round, so a change of the machine's speed affects them equally.
    for (const forwarder of forwarders) {
      const { delayMs, inFlight, connectionLifeMs } = at
      const job = { stage: bench.stage, installation, inFlight, profile: bench.profile, targets }
      const plan = {
        count: installation.appended(),
        delayMs,
        ...(connectionLifeMs !== undefined && { connectionLifeMs }),
      }
      await installation.prepareRun()
      const run = await withOther(bench.stage, at, () => drain(forwarder, job, plan))
      drains.set(forwarder.name, run)
      bench.say(lineOf(forwarder.name, at, round, run))
      profiles.push(...(await profileOf(subjectOf(forwarder.name, at), run)))
    }
    rounds.push(drains)
  }
  return {
    findings: forwarders.flatMap(({ name }) => findingsOf(name, at, rounds)),
    figures: forwarders.map(({ name }) => figuresOf(name, at, rounds)),
    profiles,
  }
}

/** Runs `use`. With `isCoreShared`, another process uses the core of the forwarder concurrently. */
async function withOther<T>({ pinning }: Stage, { isCoreShared = false }: Case, use: () => Promise<T>): Promise<T> {
  if (!isCoreShared) return use()
  const other = startGuarded({
    ...pinned(pinning.forwarder, process.execPath, ['--eval', 'for (;;);']),
    env: process.env,
    output: 'stderr',
  })
  try {
    return await use()
  } finally {
    await other.kill()
  }
}

export const subjectOf = (program: string, { delayMs, name }: Case): string =>
  variantOf.delivery(program, delayMs, name)

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

/** The ratio of deliveries per CPU second, as the median of all rounds. */
export const ratio = (name: string, other: string, rounds: Rounds): number =>
  median(rounds.map(round => (round.get(name)?.perCpuSecond ?? 0) / (round.get(other)?.perCpuSecond ?? Number.NaN)))

const lineOf = (name: string, at: Case, round: number, run: Drain): string =>
  `${subjectOf(name, at)}, ${at.inFlight} requests in progress, run ${round}: ` +
  `${Math.round(run.perCpuSecond)} deliveries per CPU second, ${Math.round(run.perSecond)} per second, ` +
  `${run.newConnections.toFixed(4)} new connections per delivery, ${run.fullHandshakes.toFixed(4)} full handshakes, ` +
  `peak memory ${Math.round(run.peakMb)} MB, ${run.lost} lost, ${run.duplicates} duplicated`
