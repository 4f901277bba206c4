import { setTimeout as delay } from 'node:timers/promises'
import { type Bar, bounds, type Finding } from '../bounds.ts'
import {
  type CollectorServer,
  hooklineCollector,
  type ReferenceServer,
  referenceServer,
  startAndAwait,
} from '../collectors/collector-servers.ts'
import { type LoadTally, messageIdPattern, startLoad } from '../collectors/load.ts'
import type { FigureName } from '../figure-names.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { cpuSeconds, micros, peakMb, together } from '../process-usage.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { median } from '../statistics.ts'
import { variantOf } from '../variant-names.ts'
import type { Bench, Figures, Outcome } from './row.ts'

const connections = 32
/** The measured part lasts longer if a process stands still and fewer messages get a 200. */
const leastMessages = 2_000
const parsing = referenceServer(false)
const writing = referenceServer(true)

export interface CollectorPlan {
  /** Messages per request: one, as browsers send, and a batch, as Hookline's client sends. */
  readonly batchSizes: readonly number[]
  readonly references: readonly ReferenceServer[]
  readonly warmUpMs: number
  readonly seconds: number
}

const full: CollectorPlan = { batchSizes: [1, 20], references: [parsing, writing], warmUpMs: 2_000, seconds: 6 }
export const small: CollectorPlan = { batchSizes: [20], references: [writing], warmUpMs: 500, seconds: 2 }

interface Run {
  /** Messages that got a 200, per second of the server's CPU time. */
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly peakMb: number
  readonly tally: LoadTally
  /** Messages that got a 200 but are not on the topic. */
  readonly lost: number
  readonly duplicated: number
}

/** Measures the CPU time with which the collector accepts a message. */
export async function collectorRow(bench: Bench, plan = full): Promise<Outcome> {
  const servers = [...plan.references, hooklineCollector]
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  for (const batchSize of plan.batchSizes) {
    const runs = new Map<CollectorServer, Run[]>(servers.map(server => [server, []]))
    for (let round = 1; round <= bench.runs; round++)
      for (const server of servers) {
        const installation = await createInstallation(bench.stage)
        const { profile, ...run } = await measure(bench, installation, server, { ...plan, batchSize })
        await installation.close()
        runs.get(server)?.push(run)
        profiles.push(...profile)
        bench.say(
          `${server.name}, ${batchSize} messages per request, run ${round}: ${Math.round(run.perCpuSecond)} messages per CPU second, ${Math.round(run.perSecond)} per second`,
        )
      }
    figures.push(...servers.map(server => figuresOf(server, batchSize, runs.get(server) ?? [])))
    findings.push(...findingsOf(batchSize, plan.references, runs))
  }
  return { findings, figures, profiles }
}

async function measure(
  bench: Bench,
  installation: Installation,
  server: CollectorServer,
  { batchSize, warmUpMs, seconds }: CollectorPlan & { readonly batchSize: number },
): Promise<Run & { readonly profile: readonly Profiled[] }> {
  const job = { stage: bench.stage, installation, inFlight: connections, profile: bench.profile }
  const { process, url } = await startAndAwait(server, job)
  const writeKey = `key-of-${installation.sourceIds[0]}`
  const load = startLoad({ url, writeKey, batchSize, connections })
  try {
    await Promise.race([delay(warmUpMs), process.died])
    const mark = async () => {
      const { messages } = await load.tally()
      return { messages, cpu: together(process.pids, cpuSeconds), at: performance.now(), micros: micros() }
    }
    const from = await mark()
    await Promise.race([delay(seconds * bench.scale * 1_000), process.died])
    let to = await mark()
    while (to.messages - from.messages < leastMessages) {
      await Promise.race([delay(100), process.died])
      to = await mark()
    }
    const tally = await load.tally()
    const peak = together(process.pids, peakMb)
    await process.stop()
    const accepted = await load.accepted()
    await load.stop()
    const stored = await installation.eventTexts(messageIdPattern)
    const ids = new Set(stored)
    const run = { profile: process.profile, window: { from: from.micros, to: to.micros } }
    return {
      perCpuSecond: (to.messages - from.messages) / (to.cpu - from.cpu),
      perSecond: ((to.messages - from.messages) * 1_000) / (to.at - from.at),
      peakMb: peak,
      tally,
      lost: server === parsing ? 0 : accepted.filter(id => !ids.has(id)).length,
      duplicated: stored.length - ids.size,
      profile: await profileOf(variantOf.collector(server.name, batchSize), run),
    }
  } finally {
    await process.stop()
  }
}

function figuresOf(server: CollectorServer, batchSize: number, runs: readonly Run[]): Figures {
  const middle = (of: (run: Run) => number): number => median(runs.map(of))
  return {
    collector: server.name,
    'messages per request': batchSize,
    'messages / CPU s': Math.round(middle(({ perCpuSecond }) => perCpuSecond)),
    'messages / s': Math.round(middle(({ perSecond }) => perSecond)),
    'µs CPU per message': middle(({ perCpuSecond }) => 1e6 / perCpuSecond),
    'peak MB': Math.round(middle(run => run.peakMb)),
    refused: runs.reduce((sum, { tally }) => sum + tally.refused + tally.broken, 0),
  }
}

function findingsOf(
  batchSize: number,
  references: readonly ReferenceServer[],
  runs: ReadonlyMap<CollectorServer, readonly Run[]>,
): readonly Finding[] {
  const own = runs.get(hooklineCollector) ?? []
  const subject = variantOf.collector('hookline', batchSize)
  const ratio = (other: CollectorServer): number =>
    median(own.map(({ perCpuSecond }, round) => perCpuSecond / (runs.get(other)?.[round]?.perCpuSecond ?? Number.NaN)))
  const worst = (of: (run: Run) => number): number => Math.max(...own.map(of))
  const finding = (what: FigureName, measured: number, bar: Bar): Finding => ({ subject, what, measured, ...bar })
  const price = (server: CollectorServer): number =>
    median((runs.get(server) ?? []).map(({ perCpuSecond }) => 1e6 / perCpuSecond))
  const reference = references.at(-1)
  return [
    {
      ...{ ...finding('CPU per message', price(hooklineCollector), {}), unit: 'µs' },
      ...(reference && { reference: { name: reference.name, measured: price(reference), unit: 'µs' } }),
    },
    { ...finding('peak memory', median(own.map(({ peakMb }) => peakMb)), {}), unit: 'MB' },
    ...references.map(each =>
      finding(
        `messages per CPU second, relative to the ${each.name}`,
        ratio(each),
        each === writing ? bounds.ofBareHandler : {},
      ),
    ),
    finding(
      'requests without a 200',
      worst(({ tally }) => tally.refused + tally.broken),
      bounds.lost,
    ),
    finding(
      'messages that got a 200 but are not on the topic',
      worst(({ lost }) => lost),
      bounds.lost,
    ),
    finding(
      'messages stored twice',
      worst(({ duplicated }) => duplicated),
      bounds.duplicates,
    ),
  ]
}
