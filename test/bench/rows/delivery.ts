import { type Bar, bars, type Finding, recorded } from '../bars.ts'
import { type Drain, drain } from '../drain.ts'
import { bareLoop } from '../forwarders/bare-loop.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder, isWhole } from '../forwarders/hookline.ts'
import { createInstallation, type Installation } from '../installation.ts'
import { type Profiled, profileOf } from '../profile.ts'
import { median } from '../statistics.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

export interface DeliveryPlan {
  readonly cases: readonly { readonly delayMs: number; readonly inFlight: number }[]
  /** Events of a run, by how dear a call is to the client: so that every run takes some seconds. */
  readonly counts: { readonly got: number; readonly others: number }
}

const full: DeliveryPlan = {
  cases: [
    { delayMs: 0, inFlight: 256 },
    { delayMs: 20, inFlight: 512 },
    { delayMs: 200, inFlight: 4_096 },
  ],
  counts: { got: 40_000, others: 120_000 },
}

/** Deliveries a CPU second: Hookline, the bare loop with the same client, and peers, in turn on the same topic. */
export async function deliveryRow(bench: Bench, plan = full): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const { forwarders, count } of heats(bench, plan)) {
    bench.say(`filling a topic with ${count} events for ${forwarders.map(({ name }) => name).join(', ')}`)
    const installation = await createInstallation(bench.stage)
    await installation.fill(count)
    for (const each of plan.cases) outcomes.push(await compare(bench, installation, forwarders, each))
    await installation.close()
  }
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    figures: outcomes.flatMap(({ figures }) => figures),
    profiles: outcomes.flatMap(({ profiles = [] }) => profiles),
  }
}

interface Heat {
  readonly forwarders: readonly Forwarder[]
  readonly count: number
}

/** Who runs against whom. */
function heats(bench: Bench, { counts }: DeliveryPlan): readonly Heat[] {
  const ours = bench.transports.map(transport => ({ transport, forwarder: hooklineForwarder(transport) }))
  const slow = ours.filter(({ transport }) => transport === 'got').map(({ forwarder }) => forwarder)
  const fast = ours.filter(({ transport }) => transport !== 'got').map(({ forwarder }) => forwarder)
  return [
    { forwarders: [bareLoop('got'), ...slow], count: scaled(bench, counts.got) },
    { forwarders: [bareLoop('undici'), ...fast, ...bench.peers], count: scaled(bench, counts.others) },
  ].filter(({ forwarders }) => forwarders.length > 1)
}

interface Case {
  readonly delayMs: number
  readonly inFlight: number
}

async function compare(
  bench: Bench,
  installation: Installation,
  forwarders: readonly Forwarder[],
  at: Case,
): Promise<Outcome> {
  const rounds: ReadonlyMap<string, Drain>[] = []
  const profiles: Profiled[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const drains = new Map<string, Drain>()
    // One after the other, in every round: what slows the machine down meets them all.
    for (const forwarder of forwarders) {
      const job = { stage: bench.stage, installation, inFlight: at.inFlight, profile: bench.profile }
      const run = await drain(forwarder, job, { count: installation.appended(), delayMs: at.delayMs })
      await installation.forgetPositions()
      drains.set(forwarder.name, run)
      bench.say(lineOf(forwarder.name, at, round, run))
      profiles.push(...(await profileOf(`${forwarder.name}, ${at.delayMs} ms`, run)))
    }
    rounds.push(drains)
  }
  return {
    findings: forwarders.flatMap(({ name }) => findingsOf(name, at, rounds)),
    figures: forwarders.map(({ name }) => figuresOf(name, at, rounds)),
    profiles,
  }
}

type Rounds = readonly ReadonlyMap<string, Drain>[]

/** Deliveries a CPU second. */
const rateOf = (name: string, rounds: Rounds): number =>
  Math.round(median(drainsOf(name, rounds).map(({ perCpuSecond }) => perCpuSecond)))

const drainsOf = (name: string, rounds: Rounds): readonly Drain[] => rounds.flatMap(round => round.get(name) ?? [])

function figuresOf(name: string, { delayMs, inFlight }: Case, rounds: Rounds): Figures {
  const drains = drainsOf(name, rounds)
  const middle = (of: (drain: Drain) => number): number => median(drains.map(of))
  return {
    forwarder: name,
    'answer after ms': delayMs,
    'in flight': inFlight,
    'deliveries / CPU s': rateOf(name, rounds),
    'deliveries / s': Math.round(middle(({ perSecond }) => perSecond)),
    'peak MB': Math.round(middle(({ peakMb }) => peakMb)),
    'first after s': middle(({ firstAfter }) => firstAfter),
    lost: Math.max(...drains.map(({ lost }) => lost)),
    duplicates: Math.max(...drains.map(({ duplicates }) => duplicates)),
  }
}

/** Peers and references are told of, Hookline is judged. */
function findingsOf(name: string, at: Case, rounds: Rounds): readonly Finding[] {
  const [, transport] = /^hookline (.+)$/.exec(name) ?? []
  if (transport === undefined) return []
  const drains = drainsOf(name, rounds)
  const subject = `${name}, ${at.delayMs} ms`
  const worst = (of: (drain: Drain) => number): number => Math.max(...drains.map(of))
  const finding = (what: string, measured: number, bar: Bar): Finding => ({ subject, what, measured, ...bar })
  const whole = drains.filter(({ sample }) => sample !== undefined && isWhole(sample)).length
  const bare = `bare ${transport === 'got' ? 'got' : 'undici'}`
  const memory = bars.peakMemory[at.inFlight]
  return [
    {
      ...finding('deliveries', rateOf(name, rounds), {}),
      ...{ unit: '/ CPU s', reference: { name: bare, measured: rateOf(bare, rounds), unit: '/ CPU s' } },
    },
    finding(`of ${bare}`, ratio(name, bare, rounds), bars.ofBareLoop[transport] ?? {}),
    ...(transport === 'got' ? [] : peerFindings(finding, name, at, rounds)),
    { ...finding('peak memory', Math.round(median(drains.map(({ peakMb }) => peakMb))), memory ?? {}), unit: 'MB' },
    finding(
      'lost',
      worst(({ lost }) => lost),
      bars.lost,
    ),
    finding(
      'delivered twice',
      worst(({ duplicates }) => duplicates),
      bars.duplicates,
    ),
    finding(
      'requests of no event',
      worst(({ foreign }) => foreign),
      bars.duplicates,
    ),
    finding('runs with whole requests', whole, { must: { atLeast: rounds.length } }),
  ]
}

function peerFindings(
  finding: (what: string, measured: number, bar: Bar) => Finding,
  name: string,
  at: Case,
  rounds: Rounds,
): readonly Finding[] {
  return [
    ['redpanda', 'Redpanda Connect', bars.ofRedpanda] as const,
    ['redpanda-tuned', 'Redpanda Connect tuned', bars.ofRedpandaTuned] as const,
  ].flatMap(([peer, title, bar]) => {
    if (rounds[0]?.has(peer)) return [finding(`of ${title}`, ratio(name, peer, rounds), bar)]
    const [bare, other] = [recorded['bare undici'][at.delayMs], recorded[peer][at.delayMs]]
    if (bare === undefined || other === undefined) return []
    return [finding(`of ${title}, by way of bare undici`, (ratio(name, 'bare undici', rounds) * bare) / other, bar)]
  })
}

/** How many times the deliveries a CPU second of another: the median of the rounds, each with what ran beside it. */
const ratio = (name: string, other: string, rounds: Rounds): number =>
  median(rounds.map(round => (round.get(name)?.perCpuSecond ?? 0) / (round.get(other)?.perCpuSecond ?? Number.NaN)))

const lineOf = (name: string, { delayMs, inFlight }: Case, round: number, run: Drain): string =>
  `${name}, ${delayMs} ms, ${inFlight} in flight, run ${round}: ${Math.round(run.perCpuSecond)} deliveries / CPU s, ` +
  `${Math.round(run.perSecond)} / s, ${Math.round(run.peakMb)} MB, lost ${run.lost}, twice ${run.duplicates}`
