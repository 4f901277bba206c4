import { bounds, type Finding, type Reference } from '../bounds.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { createInstallation } from '../installation-topics.ts'
import { type Live, live, meter, type Passage, quantile, type Reading, warm } from '../latency-under-load.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { variantOf } from '../variant-names.ts'
import { type Bench, type Figures, type Outcome, scaledSeconds } from './row.ts'

const perSecond = 1_000
const delayMs = 20
const inFlight = 512
/** Not measured, because V8 still compiles the code. */
const skippedSeconds = 3

/** Measures the latency from append to response under an even load, far below the maximum. */
export async function liveRow(bench: Bench): Promise<Outcome> {
  const ours = bench.transports.map(hooklineForwarder)
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  const reference = referenceLoop('undici')
  let ofReference = { p50: Number.NaN, p99: Number.NaN }
  const comparedWith = (ms: number): Reference => ({ name: reference.name, measured: ms, unit: 'ms' })
  for (const forwarder of [reference, ...bench.peers, ...ours]) {
    const measured = await runUnderLoad(bench, forwarder)
    const { run, cpuShare, peakMb } = measured
    profiles.push(...(await profileOf(forwarder.name, measured)))
    const passages = passagesIn(run)
    const [p50, p99] = [quantile(passages, 0.5), quantile(passages, 0.99)]
    figures.push({
      forwarder: forwarder.name,
      'p50 ms': p50,
      'p99 ms': p99,
      'p99.9 ms': quantile(passages, 0.999),
      'average CPU use in cores': cpuShare,
      'peak MB': Math.round(peakMb),
      lost: run.lost,
      duplicates: run.duplicates,
    })
    bench.say(`${forwarder.name}: p99 latency ${p99.toFixed(1)} ms`)
    if (forwarder === reference) ofReference = { p50, p99 }
    const subject = variantOf.live(forwarder.name, perSecond, delayMs)
    if (bench.peers.includes(forwarder)) findings.push({ subject, what: 'p99', unit: 'ms', measured: p99 })
    if (!ours.includes(forwarder)) continue
    findings.push(
      { subject, what: 'p50', unit: 'ms', measured: p50, reference: comparedWith(ofReference.p50) },
      { subject, what: 'p99', unit: 'ms', measured: p99, reference: comparedWith(ofReference.p99), ...bounds.liveP99 },
      { subject, what: `p99, relative to the ${reference.name}`, measured: p99 / ofReference.p99 },
      { subject, what: 'average CPU use', unit: 'cores', measured: cpuShare },
      { subject, what: 'lost', measured: run.lost, ...bounds.lost },
      { subject, what: 'duplicated', measured: run.duplicates, ...bounds.duplicates },
    )
  }
  return { findings, figures, profiles }
}

/** The latencies of a run without its first seconds, in which V8 still compiles the code. */
export const passagesIn = ({ passages }: Live): readonly Passage[] => passages.slice(skippedSeconds * perSecond)

interface UnderLoad extends Reading {
  readonly run: Live
  readonly profile: string | undefined
}

/** Delivers 1,000 events a second for 33 s (scaled), with responses after 20 ms. */
export async function runUnderLoad(bench: Bench, forwarder: Forwarder): Promise<UnderLoad> {
  const { stage } = bench
  const seconds = skippedSeconds + scaledSeconds(bench, 30)
  bench.say(`${forwarder.name}: ${perSecond} events a second for ${seconds} s`)
  const installation = await createInstallation(stage)
  const process = await forwarder.start({ stage, installation, inFlight, profile: bench.profile })
  try {
    await warm(stage, installation, process, delayMs)
    const read = meter(process)
    const run = await live(stage, installation, { perSecond, seconds, delayMs })
    return { run, profile: process.profile, ...read() }
  } finally {
    await process.stop()
    await installation.close()
  }
}
