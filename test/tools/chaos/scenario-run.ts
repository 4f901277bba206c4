import { setTimeout as delay } from 'node:timers/promises'
import { type CollectorsSeen, type CollectorWatch, watchCollectors } from './collector-watch.ts'
import { type Findings, type Injected, judge } from './delivery-verdict.ts'
import { type Load, startLoad } from './event-load.ts'
import type { Fleet } from './fleet.ts'
import { startHttpLoad } from './http-load.ts'
import { type Kubelet, type ProbesSeen, startKubelet } from './kubelet.ts'
import { stepsBack } from './offset-commits.ts'
import { deadLetters, invalidDeadLettered, placesOf, retriesOf, uncommitted } from './records-after-run.ts'
import type { Fault, Hit, Scenario } from './scenario.ts'
import { createChance } from './seeded-random.ts'
import { openWorld, partitions, type World, writeKey } from './world.ts'

export interface RunOptions {
  readonly seed: number
  /** Multiplies every time limit, for a busy machine. Default: 1. */
  readonly patience?: number
  /** Reports progress. */
  readonly say?: (line: string) => void
  /**
   * Ends the run early. The run then stops everything and rejects with the reason of the signal.
   */
  readonly signal?: AbortSignal
}

export interface Row extends Findings {
  readonly name: string
  readonly seed: number
  readonly shows: string
  readonly brokers: number
  readonly processes: number
  readonly collectors: number
  readonly perSecond: number
  readonly faults: readonly string[]
  /** Including requests without a success. */
  readonly calls: number
  readonly seconds: number
  readonly measured?: readonly string[]
}

/** Range of the wait before a fault, in ms. */
const usualCalmMs = { from: 1_000, to: 3_000 }
const warmUpMs = 60_000
/** Time limit for a recovery, and for the remaining deliveries at the end, in ms. */
export const giveUpMs = 180_000

/**
 * Runs a scenario with its own brokers, processes and receivers, and judges it.
 * @throws when the set-up itself fails
 */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, load, intake, destinations, limits } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  try {
    const { injected, problems, seen, probes } = await Promise.race([expose(world, scenario, say), rejection(signal)])
    const { ledger } = world
    const deadLettered = await deadLetters(world)
    const { waiting, retried } = await retriesOf(world, scenario.delivery.schedule)
    const places = await placesOf(world)
    const findings = judge({
      limits,
      patience,
      destinations: destinations.map(({ id }) => id),
      acknowledged: ledger.acknowledged(),
      deliveries: ledger.deliveries,
      injected,
      ...{ deadLettered, waiting, probes },
      order: { places, calls: ledger.calls, retried },
      refused: ledger.refused(),
      ...(intake && { intake: { limits: intake.limits, posted: ledger.posted, seen } }),
      problems,
    })
    const examined = await scenario.examine?.(world, injected)
    const faults = injected.map(({ what }) => what)
    const seconds = Math.round((performance.now() - start) / 1_000)
    const { perSecond } = load
    return {
      ...{ name, seed, shows, brokers, processes, perSecond, faults, collectors: intake?.collectors ?? 0 },
      ...findings,
      ...(examined && { measured: examined.measured, failures: [...findings.failures, ...examined.failures] }),
      calls: ledger.calls.length,
      seconds,
    }
  } finally {
    await world.close()
  }
}

/** A promise that rejects when the signal aborts. */
export function rejection(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function expose(world: World, scenario: Scenario, say: (line: string) => void) {
  const { installation, fleet, collectors, ledger, view, patience } = world
  const { dispatcherGroup, events } = installation.topics
  const problems: string[] = []
  await Promise.all([started(fleet, scenario.processes), started(collectors, scenario.intake?.collectors ?? 0)])
  const intake = watchCollectors(collectors)
  const kubelet: Kubelet = startKubelet([fleet, collectors])
  let probes: ProbesSeen
  let injected: readonly Injected[]
  let seen: CollectorsSeen
  try {
    injected = await underLoad(world, scenario, loadOf(world, scenario, intake), { problems, say })
    say('the load has ended; waiting for the remaining deliveries')
    const ids = scenario.destinations.map(({ id }) => id)
    await ledger.settled(ids, (scenario.settleMs ?? giveUpMs) * patience)
    await invalidDeadLettered(world, giveUpMs * patience)
    probes = await kubelet.stop()
    for (const [name, code] of [...(await stopAll(collectors)), ...(await stopAll(fleet))])
      if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
  } finally {
    await kubelet.stop()
    seen = await intake.stop()
  }
  problems.push(...fleet.crashes(), ...collectors.crashes())
  problems.push(...stepsBack(await view.commits(dispatcherGroup, events)), ...(await uncommitted(world)))
  return { injected, problems, seen, probes }
}

export const started = (fleet: Fleet, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => fleet.start()))

/** Sends SIGTERM to all processes. Resolves with their exit codes. */
export const stopAll = (fleet: Fleet): Promise<(readonly [name: string, code: number | null])[]> =>
  Promise.all(fleet.members().map(async member => [member.name, await fleet.stop(member)] as const))

/** Injects one fault after another. Stops after the first fault without a recovery. */
export async function underLoad(
  world: World,
  scenario: Scenario,
  load: Load,
  { problems, say }: { readonly problems: string[]; readonly say: (line: string) => void },
) {
  const injected: Injected[] = []
  const { calmMs = usualCalmMs } = scenario
  const until = performance.now() + scenario.load.seconds * 1_000
  try {
    await warmedUp(world)
    for (const fault of scenario.faults) {
      await delay(world.chance.between(calmMs.from, calmMs.to))
      const result = await suffer(world, fault, problems)
      injected.push(result)
      const { what, from, recoveredAt } = result
      if (recoveredAt === undefined) {
        say(`${what}: not every affected partition delivered again`)
        break
      }
      say(`${what}: every affected partition delivers again after ${Math.round(recoveredAt - from)} ms`)
    }
    await delay(Math.max(calmMs.to, until - performance.now()))
  } finally {
    await load.stop()
  }
  return injected
}

export function loadOf({ cluster, installation, ledger }: World, scenario: Scenario, watch: CollectorWatch): Load {
  const { load, intake, writeLoad = startLoad } = scenario
  const { perSecond, fillerBytes = 0 } = load
  if (intake !== undefined)
    return startHttpLoad({ collectors: watch.open, writeKey, partitions, perSecond, fillerBytes, ledger })
  const { codec, topics } = installation
  return writeLoad({ brokers: cluster.brokers, topic: topics.events, partitions, perSecond, codec, ledger })
}

/**
 * Resolves when every partition delivers, every process owns partitions, and every collector
 * accepts messages.
 */
async function warmedUp({ ledger, patience, fleet, collectors }: World): Promise<void> {
  const from = performance.now()
  const patienceMs = warmUpMs * patience
  const all = new Set(Array.from({ length: partitions }, (_, index) => String(index)))
  const namesOf = (some: Fleet): ReadonlySet<string> => new Set(some.members().map(({ name }) => name))
  const seen = await Promise.all([
    ledger.seen(all, { from, patienceMs, keyOf: ({ sent }) => String(sent.partition) }),
    ledger.seen(namesOf(fleet), { from, patienceMs, keyOf: ({ process }) => process }),
    ledger.seen(namesOf(collectors), { from, patienceMs, keyOf: ({ sent }) => sent.through }),
  ])
  if (!seen.includes(undefined)) return
  const names = [...namesOf(fleet), ...namesOf(collectors)].join(', ')
  throw new Error(
    `${names}: not every partition delivered, or not every process took part, within ${patienceMs / 1_000} s after the start`,
  )
}

async function suffer(world: World, fault: Fault, problems: string[]): Promise<Injected> {
  const { ledger, patience } = world
  const { what, at, recovery, victims = [], victimsAt, heal, problems: own = [] }: Hit = await fault.inject(world)
  const recoveredAt = await ledger.seen(recovery.keys, { ...recovery, patienceMs: giveUpMs * patience })
  const healedAt = heal && performance.now()
  problems.push(...own, ...((await heal?.()) ?? []))
  return { what: `${fault.name} ${what}`, at, from: recovery.from, recoveredAt, victims, victimsAt, healedAt }
}
