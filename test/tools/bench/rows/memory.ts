import { bounds, type Finding } from '../bounds.ts'
import { drain } from '../drain-topic.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { shown } from '../report.ts'
import { median, type Point, slope } from '../statistics.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512

/** Measures resident memory over a long run. */
export async function memoryRow(bench: Bench): Promise<Outcome> {
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  for (const transport of bench.transports) {
    // This number of events takes about a minute.
    const count = scaled(bench, transport === 'got' ? 300_000 : 1_000_000)
    bench.say(`hookline ${transport}: ${count} events, ${inFlight} requests in progress`)
    const installation = await createInstallation(bench.stage)
    await installation.fill(count)
    const job = { stage: bench.stage, installation, inFlight, profile: bench.profile }
    const run = await drain(hooklineForwarder(transport), job, { count, delayMs, samplesMemory: true })
    await installation.close()
    const { growth, perMillion } = growthOf(run.memory, count)
    figures.push({
      transport,
      events: count,
      'peak MB': Math.round(run.peakMb),
      'memory of the last quarter, relative to the second quarter': growth,
      'MB per million events': perMillion,
      lost: run.lost,
      duplicates: run.duplicates,
    })
    bench.say(
      `hookline ${transport}: peak memory ${Math.round(run.peakMb)} MB, ${perMillion.toFixed(1)} MB per million events`,
    )
    const subject = `hookline ${transport}, ${shown(count)} events`
    profiles.push(...(await profileOf(subject, run)))
    findings.push(
      { subject, what: 'peak memory', unit: 'MB', measured: run.peakMb, ...bounds.peakMemory[inFlight] },
      {
        ...{ subject, what: 'memory of the last quarter, relative to the second quarter', measured: growth },
        ...bounds.memoryGrowth,
      },
      { subject, what: 'lost', measured: run.lost, ...bounds.lost },
    )
  }
  return { findings, figures, profiles }
}

/**
 * Growth of resident memory: the median of the last quarter divided by that of the second.
 * `perMillion` is in MB per million deliveries.
 */
export function growthOf(
  samples: readonly Point[],
  count: number,
): { readonly growth: number; readonly perMillion: number } {
  const between = (from: number, to: number): readonly Point[] =>
    samples.filter(({ x }) => x >= from * count && x < to * count)
  const level = (points: readonly Point[]): number =>
    points.length > 0 ? median(points.map(({ y }) => y)) : Number.NaN
  return { growth: level(between(0.75, 1)) / level(between(0.25, 0.5)), perMillion: slope(between(0.25, 1)) * 1e6 }
}
