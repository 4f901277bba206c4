import { bars, type Finding } from '../bars.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation.ts'
import { live, type Passage, quantile, warm } from '../live.ts'
import { type Bench, type Figures, type Outcome, scaledSeconds } from './row.ts'

export interface IsolationPlan {
  readonly perSecond: number
  readonly seconds: number
  readonly inFlight: number
  /** What one endpoint may hold of the process. */
  readonly perWebhook: number
}

const destinations = 10
const delayMs = 20
const inTimeMs = 1_000
/** 64 is what the configuration says by default. */
const places = { inFlight: 256, perWebhook: 64 }

/** Ten destinations, each with a tenth of the load, of which one still accepts but answers no more when the load begins: what the others notice of it. */
export async function isolationRow(bench: Bench): Promise<Outcome> {
  const plan = { ...places, perSecond: 1_000, seconds: scaledSeconds(bench, 25) }
  const figures: Figures[] = []
  const findings: Finding[] = []
  for (const transport of bench.transports) {
    const without = await healthyPassages(bench, transport, plan, 'all answer')
    const withDead = await healthyPassages(bench, transport, plan, 'one is dead')
    const p99 = quantile(withDead, 0.99)
    const p99Without = quantile(without, 0.99)
    const inTime = inTimeShare(withDead)
    figures.push(
      {
        transport,
        destinations: 'all answer',
        'in time': inTimeShare(without),
        'p50 ms': quantile(without, 0.5),
        'p99 ms': p99Without,
      },
      { transport, destinations: 'one is dead', 'in time': inTime, 'p50 ms': quantile(withDead, 0.5), 'p99 ms': p99 },
    )
    bench.say(
      `hookline ${transport}: in time ${(inTime * 100).toFixed(2)} %, p99 ${p99.toFixed(1)} ms, without the dead one ${p99Without.toFixed(1)} ms`,
    )
    const subject = `hookline ${transport}, 1 of ${destinations} dead`
    findings.push(
      { subject, what: 'healthy events in time', measured: inTime, ...bars.healthyInTime },
      { subject, what: 'p99 ms of healthy events', measured: p99, ...bars.isolatedP99 },
      { subject, what: 'p99 of that without the dead one', measured: p99 / p99Without, ...bars.isolatedP99Ratio },
    )
  }
  return { findings, figures }
}

/** The events of nine destinations that always answer, under the load; with the tenth or without it answering. */
export async function healthyPassages(
  bench: Bench,
  transport: string,
  { perSecond, seconds, inFlight, perWebhook }: IsolationPlan,
  which: 'all answer' | 'one is dead',
): Promise<readonly Passage[]> {
  const { stage, say } = bench
  say(`hookline ${transport}: ${destinations} destinations, ${which}, ${perSecond} events a second for ${seconds} s`)
  const installation = await createInstallation(stage, { sources: destinations })
  const isMortal = (number: number): boolean => number % destinations === destinations - 1
  const targets = installation.sourceIds.map((sourceId, index) => ({
    sourceId,
    url: isMortal(index) ? stage.receiver.mortalUrl : stage.receiver.url,
  }))
  const process = await hooklineForwarder(transport).start({ stage, installation, targets, inFlight, perWebhook })
  try {
    await warm(stage, installation, process, delayMs)
    const forTheDead = which === 'one is dead' ? (perSecond * seconds) / destinations : 0
    const { passages } = await live(stage, installation, { perSecond, seconds, delayMs, forTheDead })
    return passages.filter(({ number }) => !isMortal(number))
  } finally {
    // Its calls to the dead one would take their five seconds.
    await process.kill()
    await installation.close()
  }
}

/** Which part of them took no longer than a second. */
export const inTimeShare = (passages: readonly Passage[]): number =>
  passages.filter(({ ms }) => ms !== undefined && ms <= inTimeMs).length / passages.length
