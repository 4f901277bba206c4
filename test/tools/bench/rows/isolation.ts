import { bars, type Finding } from '../bars.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation.ts'
import { live, meter, type Passage, quantile, warm } from '../live.ts'
import { type Profiled, profileOf } from '../profile.ts'
import { median } from '../statistics.ts'
import { type Bench, type Outcome, scaledSeconds } from './row.ts'

export interface IsolationPlan {
  readonly destinations: number
  readonly perSecond: number
  readonly seconds: number
  readonly inFlight: number
  /** What one endpoint may hold of the process. */
  readonly perWebhook: number
}

interface Crowd {
  readonly destinations: number
  /** How many of them die, a run each. */
  readonly dead: readonly number[]
  readonly seconds: number
}

const crowds: readonly Crowd[] = [
  { destinations: 10, dead: [1], seconds: 25 },
  { destinations: 50, dead: [1, 10, 25], seconds: 15 },
]
const delayMs = 20
const inTimeMs = 1_000
/** 64 is what the configuration says by default. */
const load = { perSecond: 1_000, inFlight: 256, perWebhook: 64 }

/** Many destinations, each with its part of the load, of which some still accept but answer no more when the load begins: what the others notice of it. */
export async function isolationRow(bench: Bench): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const transport of bench.transports)
    for (const crowd of crowds) outcomes.push(await crowdOutcome(bench, transport, crowd))
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    figures: outcomes.flatMap(({ figures }) => figures),
    profiles: outcomes.flatMap(({ profiles = [] }) => profiles),
  }
}

/** What the healthy ones notice when so many die, in one round. */
interface Noticed {
  readonly dead: number
  readonly 'in time': number
  readonly 'p50 ms': number
  readonly 'p99 ms': number
}

interface Round {
  readonly noticed: readonly Noticed[]
  readonly profiles: readonly Profiled[]
}

async function crowdOutcome(bench: Bench, transport: string, crowd: Crowd): Promise<Outcome> {
  const { destinations, dead } = crowd
  const rounds: Round[] = []
  for (let round = 1; round <= bench.runs; round++) rounds.push(await crowdRound(bench, transport, crowd, round))
  /** Of so many dead, a value a round. */
  const of = (dying: number, what: keyof Noticed): readonly number[] =>
    rounds.flatMap(({ noticed }) => noticed.filter(each => each.dead === dying).map(each => each[what]))
  const without = of(0, 'p99 ms')
  const findings = dead.flatMap((dying): readonly Finding[] => {
    const subject = `hookline ${transport}, ${dying} of ${destinations} dead`
    const p99s = of(dying, 'p99 ms')
    const ratio = median(p99s.map((p99, round) => p99 / (without[round] ?? Number.NaN)))
    return [
      {
        ...{ subject, what: 'healthy events in time', measured: Math.min(...of(dying, 'in time')) },
        ...bars.healthyInTime,
      },
      // The bar in milliseconds is that of one dead among ten.
      {
        ...{ subject, what: 'p99 of healthy events', unit: 'ms', measured: median(p99s) },
        ...(destinations === 10 && bars.isolatedP99),
      },
      {
        ...{ subject, what: 'p99 of that without a dead one', measured: ratio },
        reference: { name: 'none dead', measured: median(without), unit: 'ms' },
        ...bars.isolatedP99Ratio,
      },
    ]
  })
  const figures = rounds.flatMap(({ noticed }, index) =>
    noticed.map(each => ({ transport, destinations, round: index + 1, ...each })),
  )
  return { findings, figures, profiles: rounds.flatMap(({ profiles }) => profiles) }
}

async function crowdRound(
  bench: Bench,
  transport: string,
  { destinations, dead, seconds }: Crowd,
  round: number,
): Promise<Round> {
  const plan = { ...load, destinations, seconds: scaledSeconds(bench, seconds) }
  const inOrder = [0, ...dead]
  const noticed: Noticed[] = []
  const profiles: Profiled[] = []
  // A broker gets faster for minutes: who is first in one round is last in the next.
  for (const dying of round % 2 === 1 ? inOrder : inOrder.toReversed()) {
    const { passages, profiles: ofRun } = await healthyUnderLoad(bench, transport, plan, dying)
    profiles.push(...ofRun)
    const [inTime, p50, p99] = [inTimeShare(passages), quantile(passages, 0.5), quantile(passages, 0.99)]
    bench.say(`hookline ${transport}: in time ${(inTime * 100).toFixed(2)} %, p99 ${p99.toFixed(1)} ms`)
    noticed.push({ dead: dying, 'in time': inTime, 'p50 ms': p50, 'p99 ms': p99 })
  }
  return { noticed, profiles }
}

/** The events of those destinations that always answer, under the load, while the last `dead` ones do not. */
export async function healthyUnderLoad(
  bench: Bench,
  transport: string,
  { destinations, perSecond, seconds, inFlight, perWebhook }: IsolationPlan,
  dead: number,
): Promise<{ readonly passages: readonly Passage[]; readonly profiles: readonly Profiled[] }> {
  const { stage, say, profile } = bench
  say(`hookline ${transport}: ${dead} of ${destinations} dead, ${perSecond} events a second for ${seconds} s`)
  const installation = await createInstallation(stage, { sources: destinations })
  const isMortal = (number: number): boolean => number % destinations >= destinations - dead
  const targets = installation.sourceIds.map((sourceId, index) => ({
    sourceId,
    url: isMortal(index) ? `${stage.receiver.mortalUrl}/${index}` : stage.receiver.url,
  }))
  const job = { stage, installation, targets, inFlight, perWebhook, profile }
  const process = await hooklineForwarder(transport).start(job)
  try {
    await warm(stage, installation, process, delayMs)
    const read = meter(process)
    const forTheDead = (perSecond * seconds * dead) / destinations
    const { passages } = await live(stage, installation, { perSecond, seconds, delayMs, forTheDead })
    const { window } = read()
    // Its profile is written by a process that ends by itself.
    if (profile) await process.stop()
    return {
      passages: passages.filter(({ number }) => !isMortal(number)),
      profiles: await profileOf(`hookline ${transport}, ${dead} of ${destinations} dead`, {
        profile: process.profile,
        window,
      }),
    }
  } finally {
    // Its calls to the dead ones would take their five seconds.
    await process.kill()
    await installation.close()
  }
}

/** Which part of them took no longer than a second. */
const inTimeShare = (passages: readonly Passage[]): number =>
  passages.filter(({ ms }) => ms !== undefined && ms <= inTimeMs).length / passages.length
