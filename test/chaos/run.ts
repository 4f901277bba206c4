import { setTimeout as delay } from 'node:timers/promises'
import type { RecordHeaders } from '../../src/core/ports.ts'
import { tiersOf } from '../../src/core/topics.ts'
import { parseDuration } from '../../src/core/units.ts'
import { createChance } from './chance.ts'
import type { Fleet } from './fleet.ts'
import { watchCommits } from './kafka-view.ts'
import { targetOf } from './ledger.ts'
import { startLoad } from './load.ts'
import type { Fault, Hit, Scenario } from './scenario.ts'
import { type Findings, type Injected, judge } from './verdict.ts'
import { openWorld, partitions, type World } from './world.ts'

export interface RunOptions {
  readonly seed: number
  /** Factor on every time limit, for a machine that is busy with other things; 1. */
  readonly patience?: number
  /** What is being done, for whoever watches. */
  readonly say?: (line: string) => void
  /** Ends it early: everything is closed, then it rejects with the reason. */
  readonly signal?: AbortSignal
}

export interface Row extends Findings {
  readonly name: string
  readonly seed: number
  readonly shows: string
  readonly brokers: number
  readonly processes: number
  readonly perSecond: number
  /** What was done to it, in words, in its order. */
  readonly faults: readonly string[]
  /** Calls that came in, also those that were not answered with a success. */
  readonly calls: number
  readonly seconds: number
}

/** Between two faults; the seed says which. */
const calmMs = { from: 1_000, to: 3_000 }
const warmUpMs = 60_000
/** As long as this nothing may come any more for a fault, or at the end, before it counts as never. */
const giveUpMs = 180_000

/** Runs a scenario on brokers, processes and receivers of its own and judges it. @throws when the set-up itself fails. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, load, destinations, limits } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  try {
    const { injected, problems } = await Promise.race([expose(world, scenario, say), rejection(signal)])
    const { ledger } = world
    const [deadLettered, parked] = [await deadLetters(world), await parkedRecords(world, scenario.delivery.schedule)]
    const findings = judge({
      limits,
      patience,
      destinations: destinations.map(({ id }) => id),
      acknowledged: ledger.acknowledged(),
      deliveries: ledger.deliveries,
      injected,
      deadLettered,
      parked,
      problems,
    })
    const faults = injected.map(({ what }) => what)
    const seconds = Math.round((performance.now() - start) / 1_000)
    const { perSecond } = load
    return {
      ...{ name, seed, shows, brokers, processes, perSecond, faults },
      ...findings,
      calls: ledger.calls.length,
      seconds,
    }
  } finally {
    await world.close()
  }
}

/** Rejects when the signal comes. */
function rejection(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Load and faults, then time to settle, then an orderly end. */
async function expose(world: World, scenario: Scenario, say: (line: string) => void) {
  const { pipeline, fleet, ledger, view, patience } = world
  const { dispatcherGroup, events } = pipeline.topics
  const problems: string[] = []
  await Promise.all(Array.from({ length: scenario.processes }, () => fleet.start()))
  const commits = watchCommits(view, dispatcherGroup, events)
  let injected: readonly Injected[]
  try {
    injected = await underLoad(world, scenario, problems, say)
    say('no more load; waiting until all is delivered')
    const ids = scenario.destinations.map(({ id }) => id)
    await ledger.settled(ids, giveUpMs * patience)
    for (const [name, code] of await stopAll(fleet))
      if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
  } finally {
    const stepsBack = await commits.stop()
    if (!scenario.commitsGoBack) problems.push(...stepsBack)
  }
  problems.push(...(await uncommitted(world)))
  return { injected, problems }
}

const stopAll = (fleet: Fleet): Promise<(readonly [name: string, code: number | null])[]> =>
  Promise.all(fleet.members().map(async member => [member.name, await fleet.stop(member)] as const))

/** One fault after another; the first one without recovery is the last. */
async function underLoad(world: World, scenario: Scenario, problems: string[], say: (line: string) => void) {
  const { cluster, pipeline, ledger } = world
  const { perSecond, seconds } = scenario.load
  const { codec, topics } = pipeline
  const injected: Injected[] = []
  const until = performance.now() + seconds * 1_000
  const load = startLoad({ brokers: cluster.brokers, topic: topics.events, partitions, perSecond, codec, ledger })
  try {
    await warmedUp(world, scenario.processes)
    for (const fault of scenario.faults) {
      const result = await suffer(world, fault, problems)
      injected.push(result)
      const { what, from, recoveredAt } = result
      if (recoveredAt === undefined) {
        say(`${what}: no recovery`)
        break
      }
      say(`${what}: recovered after ${Math.round(recoveredAt - from)} ms`)
    }
    await delay(Math.max(calmMs.to, until - performance.now()))
  } finally {
    await load.stop()
  }
  return injected
}

/** Every partition delivers, and every process has a share of them. */
async function warmedUp({ ledger, patience, fleet }: World, processes: number): Promise<void> {
  const from = performance.now()
  const patienceMs = warmUpMs * patience
  const all = new Set(Array.from({ length: partitions }, (_, index) => String(index)))
  const members = new Set(fleet.members().map(({ name }) => name))
  const seen = await Promise.all([
    ledger.seen(all, { from, patienceMs, keyOf: ({ sent }) => String(sent.partition) }),
    ledger.seen(members, { from, patienceMs, keyOf: ({ process }) => process }),
  ])
  if (seen.includes(undefined))
    throw new Error(`${processes} processes did not take up ${partitions} partitions within ${patienceMs / 1_000} s`)
}

async function suffer(world: World, fault: Fault, problems: string[]): Promise<Injected> {
  const { ledger, chance, patience } = world
  await delay(chance.between(calmMs.from, calmMs.to))
  const { what, at, recovery, victim, heal, problems: own = [] }: Hit = await fault.inject(world)
  const recoveredAt = await ledger.seen(recovery.keys, { ...recovery, patienceMs: giveUpMs * patience })
  problems.push(...own, ...((await heal?.()) ?? []))
  return { what: `${fault.name} ${what}`, at, from: recovery.from, recoveredAt, victim }
}

/** After an orderly end everything that was read is done, and so committed. */
async function uncommitted({ view, pipeline }: World): Promise<string[]> {
  const { dispatcherGroup, events } = pipeline.topics
  const [committed, ends] = [await view.committed(dispatcherGroup, events), await view.ends(events)]
  return [...ends].flatMap(([partition, end]) => {
    const offset = committed.get(partition) ?? 0
    return offset === end ? [] : [`partition ${partition} ends at ${end} and is committed up to ${offset}`]
  })
}

async function deadLetters({ pipeline }: World): Promise<ReadonlySet<string>> {
  const records = await pipeline.read(pipeline.topics.deadLetter)
  return new Set(records.map(({ headers }) => targetIn(headers)))
}

/** What waits in the retry topics: what the group has not come to yet. Whatever it has passed by is no excuse. */
async function parkedRecords({ pipeline, view }: World, schedule: readonly string[]): Promise<ReadonlySet<string>> {
  const { topics } = pipeline
  const parked = new Set<string>()
  for (const tier of tiersOf(schedule.flatMap(text => parseDuration(text) ?? []))) {
    const topic = topics.retry(tier)
    const committed = await view.committed(topics.retriesGroup, topic)
    for (const { partition, offset, headers } of await pipeline.read(topic))
      if (offset >= (committed.get(partition) ?? 0)) parked.add(targetIn(headers))
  }
  return parked
}

const targetIn = (headers: RecordHeaders): string =>
  targetOf({ destination: headers['destination'] ?? '', id: headers['message-id'] ?? '' })
