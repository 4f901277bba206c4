import { bounds, type Finding } from '../bounds.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { live, meter, type Passage, quantile, warm } from '../latency-under-load.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { startReceiver } from '../receiver/receiver.ts'
import { median } from '../statistics.ts'
import { variantOf } from '../variant-names.ts'
import { type Bench, type Outcome, scaledSeconds } from './row.ts'

export interface IsolationPlan {
  readonly destinations: number
  readonly perSecond: number
  readonly seconds: number
  readonly inFlight: number
  readonly perWebhook: number
}

export interface Crowd {
  readonly destinations: number
  /** Numbers of endpoints that stop responding, each measured in its own run. */
  readonly dead: readonly number[]
  readonly seconds: number
}

const crowds: readonly Crowd[] = [
  { destinations: 10, dead: [1], seconds: 25 },
  { destinations: 50, dead: [1, 10, 25], seconds: 15 },
]
const delayMs = 20
const inTimeMs = 1_000
/** 64 is the default of `perWebhook`. */
const load = { perSecond: 1_000, inFlight: 256, perWebhook: 64 }

/**
 * Measures the latency of healthy destinations while other endpoints do not respond, or one
 * destination is rate-limited.
 */
export async function isolationRow(bench: Bench): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const transport of bench.transports)
    for (const crowd of crowds) outcomes.push(await crowdOutcome(bench, transport, crowd))
  outcomes.push(await limitedOutcome(bench, cheapestOf(bench)))
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    figures: outcomes.flatMap(({ figures }) => figures),
    profiles: outcomes.flatMap(({ profiles = [] }) => profiles),
  }
}

const inTime = 'share of other events within 1 s'

interface Noticed {
  readonly dead: number
  readonly [inTime]: number
  readonly 'p50 ms': number
  readonly 'p99 ms': number
}

interface Round {
  readonly noticed: readonly Noticed[]
  readonly profiles: readonly Profiled[]
}

/** `program` is the name of the measured program in the results. */
export async function crowdOutcome(
  bench: Bench,
  transport: string,
  crowd: Crowd,
  program = `hookline ${transport}`,
): Promise<Outcome> {
  const { destinations, dead } = crowd
  const rounds: Round[] = []
  for (let round = 1; round <= bench.runs; round++)
    rounds.push(await crowdRound(bench, { transport, program }, crowd, round))
  const of = (dying: number, what: keyof Noticed): readonly number[] =>
    rounds.flatMap(({ noticed }) => noticed.filter(each => each.dead === dying).map(each => each[what]))
  const without = of(0, 'p99 ms')
  const findings = dead.flatMap((dying): readonly Finding[] => {
    const subject = variantOf.isolation(program, dying, destinations)
    const p99s = of(dying, 'p99 ms')
    const ratio = median(p99s.map((p99, round) => p99 / (without[round] ?? Number.NaN)))
    return [
      {
        ...{
          subject,
          what: 'share of the other events delivered within 1 s',
          measured: Math.min(...of(dying, inTime)),
        },
        ...bounds.healthyInTime,
      },
      {
        ...{ subject, what: 'p99 of the other events', unit: 'ms', measured: median(p99s) },
        ...(destinations === 10 && bounds.isolatedP99),
      },
      {
        ...{ subject, what: 'p99 of the other events, relative to no dead endpoint', measured: ratio },
        reference: { name: 'no dead endpoint', measured: median(without), unit: 'ms' },
        ...bounds.isolatedP99Ratio,
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
  { transport, program }: { readonly transport: string; readonly program: string },
  { destinations, dead, seconds }: Crowd,
  round: number,
): Promise<Round> {
  const plan = { ...load, destinations, seconds: scaledSeconds(bench, seconds) }
  const inOrder = [0, ...dead]
  const noticed: Noticed[] = []
  const profiles: Profiled[] = []
  // The speed of the broker changes over minutes, so the order of the runs alternates.
  for (const dying of round % 2 === 1 ? inOrder : inOrder.toReversed()) {
    const { passages, profiles: ofRun } = await healthyUnderLoad(bench, transport, plan, dying, program)
    profiles.push(...ofRun)
    const [share, p50, p99] = [inTimeShare(passages), quantile(passages, 0.5), quantile(passages, 0.99)]
    bench.say(
      `${program}: ${(share * 100).toFixed(2)} % of the other events within 1 s, their p99 ${p99.toFixed(1)} ms`,
    )
    noticed.push({ dead: dying, [inTime]: share, 'p50 ms': p50, 'p99 ms': p99 })
  }
  return { noticed, profiles }
}

/**
 * Delivers events while the last `dead` endpoints do not respond. Resolves with the latencies of
 * the other endpoints.
 */
export async function healthyUnderLoad(
  bench: Bench,
  transport: string,
  { destinations, perSecond, seconds, inFlight, perWebhook }: IsolationPlan,
  dead: number,
  program = `hookline ${transport}`,
): Promise<{ readonly passages: readonly Passage[]; readonly profiles: readonly Profiled[] }> {
  const { stage, say, profile } = bench
  say(`${program}: ${dead} of ${destinations} endpoints do not respond, ${perSecond} events a second for ${seconds} s`)
  const installation = await createInstallation(stage, { sources: destinations })
  const isMortal = (number: number): boolean => number % destinations >= destinations - dead
  const targets = installation.sourceIds.map((sourceId, index) => ({
    sourceId,
    url: isMortal(index) ? `${stage.receiver.failingUrl}/${index}` : stage.receiver.url,
  }))
  const job = { stage, installation, targets, inFlight, perWebhook, profile }
  const process = await hooklineForwarder(transport).start(job)
  try {
    await warm(stage, installation, process, delayMs)
    const read = meter(process)
    const eventsForFailing = (perSecond * seconds * dead) / destinations
    const { passages } = await live(stage, installation, { perSecond, seconds, delayMs, eventsForFailing })
    const { window } = read()
    // A killed process writes no CPU profile.
    if (profile) await process.stop()
    return {
      passages: passages.filter(({ number }) => !isMortal(number)),
      profiles: await profileOf(variantOf.isolation(program, dead, destinations), {
        profile: process.profile,
        window,
      }),
    }
  } finally {
    // A normal stop would wait for the requests to dead endpoints.
    await process.kill()
    await installation.close()
  }
}

/** The last of ten destinations gets five times as many events as its limit permits. */
const limitedPlan = { ...load, destinations: 10, seconds: 12, ratePerSecond: 20 }

async function limitedOutcome(bench: Bench, transport: string): Promise<Outcome> {
  const subject = `hookline ${transport}, 1 of 10 destinations limited`
  const rounds: { readonly free: Noticed; readonly limited: Noticed }[] = []
  for (let round = 1; round <= bench.runs; round++) {
    const run = (hasLimit: boolean): Promise<Noticed> => besideLimited(bench, transport, hasLimit)
    const [first, second] = [await run(round % 2 === 0), await run(round % 2 === 1)]
    rounds.push(round % 2 === 1 ? { free: first, limited: second } : { free: second, limited: first })
  }
  const p99s = (of: 'free' | 'limited'): readonly number[] => rounds.map(each => each[of]['p99 ms'])
  const share = Math.min(...rounds.map(({ limited }) => limited[inTime]))
  const ratio = median(rounds.map(({ free, limited }) => limited['p99 ms'] / free['p99 ms']))
  return {
    findings: [
      {
        ...{ subject, what: 'share of the other events delivered within 1 s', measured: share },
        ...bounds.healthyInTime,
      },
      {
        subject,
        what: 'p99 of the other events',
        unit: 'ms',
        measured: median(p99s('limited')),
        ...bounds.isolatedP99,
      },
      {
        ...{ subject, what: 'p99 of the other events, relative to no limit', measured: ratio },
        reference: { name: 'no limit', measured: median(p99s('free')), unit: 'ms' },
        ...bounds.isolatedP99Ratio,
      },
    ],
    figures: rounds.map(({ free, limited }, index) => ({
      ...{ transport, round: index + 1, [inTime]: limited[inTime] },
      ...{ 'p99 ms': limited['p99 ms'], 'p99 ms without a limit': free['p99 ms'] },
    })),
  }
}

/**
 * The last destination has its own receiver, and a rate limit if `hasLimit`. Resolves with the
 * other destinations' latency.
 */
async function besideLimited(bench: Bench, transport: string, hasLimit: boolean): Promise<Noticed> {
  const { stage, say } = bench
  const { destinations, perSecond, inFlight, perWebhook, ratePerSecond } = limitedPlan
  const seconds = scaledSeconds(bench, limitedPlan.seconds)
  const installation = await createInstallation(stage, { sources: destinations })
  const own = await startReceiver()
  const isOfLast = (number: number): boolean => number % destinations === destinations - 1
  const targets = installation.sourceIds.map((sourceId, index) => {
    if (!isOfLast(index)) return { sourceId, url: stage.receiver.url }
    return { sourceId, url: own.url, ...(hasLimit && { policy: { ratePerSecond } }) }
  })
  const process = await hooklineForwarder(transport).start({ stage, installation, targets, inFlight, perWebhook })
  try {
    await warm(stage, installation, process, delayMs, destinations)
    const eventsForFailing = (perSecond * seconds) / destinations
    const { passages } = await live(stage, installation, { perSecond, seconds, delayMs, eventsForFailing })
    const others = passages.filter(({ number }) => !isOfLast(number))
    const noticed = {
      [inTime]: inTimeShare(others),
      'p50 ms': quantile(others, 0.5),
      'p99 ms': quantile(others, 0.99),
    }
    say(
      `hookline ${transport}: ${hasLimit ? '1 of 10 destinations limited' : 'no destination limited'}, p99 of the others ${noticed['p99 ms'].toFixed(1)} ms`,
    )
    return { dead: 0, ...noticed }
  } finally {
    await process.kill()
    await own.stop()
    await installation.close()
  }
}

const inTimeShare = (passages: readonly Passage[]): number =>
  passages.filter(({ ms }) => ms !== undefined && ms <= inTimeMs).length / passages.length
