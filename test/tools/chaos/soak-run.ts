import { setTimeout as delay } from 'node:timers/promises'
import { createChance } from './chance.ts'
import { stepsBack } from './commit-log.ts'
import { allPartitions, onPartitions } from './faults.ts'
import { judgeFlatness, type Sample } from './flatness.ts'
import type { Member } from './fleet.ts'
import { type ProbesSeen, startKubelet } from './kubelet.ts'
import { type Load, startLoad } from './load.ts'
import { deadLetters, placesOf, retriesOf, uncommitted } from './remains.ts'
import { giveUpMs, type Row, type RunOptions, rejection, started, stopAll } from './run.ts'
import type { SoakScenario } from './scenario.ts'
import { type Injected, judge } from './verdict.ts'
import { openWorld, partitions, type World } from './world.ts'

/** More than can be written: as quickly as it can. */
const atOncePerSecond = 100_000
/** Events to begin with, which are not measured, and then to measure by how much the processes can do. */
const bursts = [5_000, 20_000] as const
/** Apart from each other, so that no two loads write the same message. */
const numbersEach = 10_000_000
const settleInMs = 10_000
const lookEveryMs = 5_000

interface Seen {
  readonly injected: readonly Injected[]
  readonly samples: readonly Sample[]
  readonly problems: readonly string[]
  readonly measured: readonly string[]
  readonly probes: ProbesSeen
}

/** Runs a soak for so many minutes on a broker, processes and receivers of its own and judges it. @throws when the set-up itself fails. */
export async function runSoak(scenario: SoakScenario, minutes: number, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, destinations, limits, delivery } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  try {
    const { ledger } = world
    const seen = await Promise.race([expose(world, scenario, minutes, say), rejection(signal)])
    const flatness = judgeFlatness(seen.samples)
    const { parked, retried } = await retriesOf(world, delivery.schedule)
    const findings = judge({
      ...{ limits, patience, injected: seen.injected, problems: [...seen.problems, ...flatness.failures] },
      destinations: destinations.map(({ id }) => id),
      acknowledged: ledger.acknowledged(),
      deliveries: ledger.deliveries,
      deadLettered: await deadLetters(world),
      parked,
      order: { places: await placesOf(world), calls: ledger.calls, retried },
      probes: seen.probes,
      refused: ledger.refused(),
    })
    const seconds = Math.round((performance.now() - start) / 1_000)
    return {
      ...{ name, seed, shows, brokers, processes, collectors: 0, perSecond: Math.round(ledger.sent.size / seconds) },
      ...findings,
      faults: seen.injected.map(({ what }) => what),
      measured: [...seen.measured, ...flatness.measured],
      ...{ calls: ledger.calls.length, seconds },
    }
  } finally {
    await world.close()
  }
}

/** All that happens, then an orderly end. */
async function expose(
  world: World,
  scenario: SoakScenario,
  minutes: number,
  say: (line: string) => void,
): Promise<Seen> {
  const { pipeline, fleet, view } = world
  await started(fleet, scenario.processes)
  const kubelet = startKubelet([fleet])
  const seen = await underLoad(world, scenario, minutes, say).finally(() => kubelet.stop())
  const probes = await kubelet.stop()
  const problems: string[] = []
  for (const [name, code] of await stopAll(fleet)) if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
  problems.push(...stepsBack(await view.commits(pipeline.topics.dispatcherGroup, pipeline.topics.events)))
  return { ...seen, probes, problems: [...problems, ...fleet.crashes(), ...(await uncommitted(world))] }
}

async function underLoad(
  world: World,
  { destinations, soak }: SoakScenario,
  minutes: number,
  say: (line: string) => void,
): Promise<Omit<Seen, 'problems' | 'probes'>> {
  const { ledger, patience } = world
  const ids = destinations.map(({ id }) => id)
  const capacity = await capacityOf(world, ids)
  const perSecond = Math.max(1, Math.round(capacity * soak.share))
  const atWork = `${minutes} minutes at ${perSecond} events a second, ${soak.share * 100} % of ${capacity}`
  say(atWork)
  const load = loadFrom(world, bursts.length * numbersEach, perSecond)
  const spike = await suffer(world, soak.spike, perSecond)
  const drained = spike.recoveredAt === undefined ? 'never' : `after ${seconds(spike.recoveredAt - spike.from)} s`
  const ofSpike = `${soak.spike.times} times that for ${seconds(spike.from - spike.at)} s: drained ${drained}`
  say(ofSpike)
  const samples = await sampled(world, performance.now() + minutes * 60_000)
  await load.stop()
  await ledger.settled(ids, giveUpMs * patience)
  return { injected: [spike], samples, measured: [atWork, ofSpike] }
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function loadFrom({ cluster, pipeline, ledger }: World, first: number, perSecond: number): Load {
  const { codec, topics } = pipeline
  return startLoad({ brokers: cluster.brokers, topic: topics.events, partitions, perSecond, codec, ledger, first })
}

/** Events a second that all destinations together are told of, when there are more than enough of them. */
async function capacityOf(world: World, destinations: readonly string[]): Promise<number> {
  const { ledger, patience } = world
  let perSecond = 0
  for (const [index, count] of bursts.entries()) {
    const [at, already] = [performance.now(), ledger.sent.size]
    const load = loadFrom(world, index * numbersEach, atOncePerSecond)
    while (ledger.sent.size < already + count) await delay(10)
    await load.stop()
    await ledger.settled(destinations, giveUpMs * patience)
    perSecond = Math.round(((ledger.sent.size - already) * 1_000) / (performance.now() - at))
  }
  return perSecond
}

/** The load is so many times what it is for a while; over when every partition delivers what was written after that. */
async function suffer(world: World, spike: SoakScenario['soak']['spike'], perSecond: number): Promise<Injected> {
  const { ledger, patience } = world
  await delay(settleInMs)
  const at = performance.now()
  const load = loadFrom(world, (bursts.length + 1) * numbersEach, (spike.times - 1) * perSecond)
  await delay(spike.seconds * 1_000)
  await load.stop()
  const recovery = onPartitions(allPartitions, performance.now())
  const recoveredAt = await ledger.seen(recovery.keys, { ...recovery, patienceMs: 2 * giveUpMs * patience })
  return {
    what: `${spike.times} times the load for ${spike.seconds} s`,
    at,
    from: recovery.from,
    recoveredAt,
    victims: [],
  }
}

/** Looks at each process again and again. */
async function sampled({ fleet }: World, until: number): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  while (performance.now() < until) {
    samples.push(...(await Promise.all(fleet.members().map(sampleOf))))
    await delay(lookEveryMs)
  }
  return samples
}

async function sampleOf({ name, service }: Member): Promise<Sample> {
  const metrics = await service.metrics()
  const number = (metric: string): number => {
    const value = metrics.get(metric)
    if (value === undefined) throw new Error(`${name} has no metric ${metric}`)
    return value
  }
  return {
    process: name,
    at: performance.now(),
    holds: {
      resident: number('process_resident_memory_bytes') / 1e6,
      heap: number('nodejs_heap_size_used_bytes') / 1e6,
      descriptors: number('process_open_fds'),
      timers: number('nodejs_active_resources{type="Timeout"}'),
    },
  }
}
