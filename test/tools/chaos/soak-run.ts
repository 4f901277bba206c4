import { setTimeout as delay } from 'node:timers/promises'
import { type Injected, judge } from './delivery-verdict.ts'
import { type Load, startLoad } from './event-load.ts'
import type { Member } from './fleet.ts'
import { type ProbesSeen, startKubelet } from './kubelet.ts'
import { targetOf } from './message-ledger.ts'
import { stepsBack } from './offset-commits.ts'
import { deadLetters, placesOf, retriesOf, uncommitted } from './records-after-run.ts'
import { judgeFlatness, type Sample } from './resource-growth-verdict.ts'
import type { SoakScenario } from './scenario.ts'
import { giveUpMs, type Row, type RunOptions, rejection, started, stopAll } from './scenario-run.ts'
import { createChance } from './seeded-random.ts'
import { openWorld, partitions, type World } from './world.ts'

/** Events per second. The load cannot reach this rate, so it writes as fast as possible. */
const unlimitedPerSecond = 100_000
/** Numbers of events in two loads: one to warm up the processes, one to measure the capacity. */
const bursts = [5_000, 20_000] as const
/** Distance between the first event numbers of two loads, so that no two messages are equal. */
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

/**
 * Runs and judges a soak of `minutes`, with its own broker, processes and receivers.
 * @throws when the set-up fails
 */
export async function runSoak(scenario: SoakScenario, minutes: number, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, destinations, limits, delivery } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  try {
    const { ledger } = world
    const seen = await Promise.race([expose(world, scenario, minutes, say), rejection(signal)])
    const flatness = judgeFlatness(seen.samples)
    const { waiting, retried } = await retriesOf(world, delivery.schedule)
    const findings = judge({
      ...{ limits, patience, injected: seen.injected, problems: [...seen.problems, ...flatness.failures] },
      destinations: destinations.map(({ id }) => id),
      acknowledged: ledger.acknowledged(),
      deliveries: ledger.deliveries,
      deadLettered: await deadLetters(world),
      waiting,
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

async function expose(
  world: World,
  scenario: SoakScenario,
  minutes: number,
  say: (line: string) => void,
): Promise<Seen> {
  const { installation, fleet, view } = world
  await started(fleet, scenario.processes)
  const kubelet = startKubelet([fleet])
  const seen = await underLoad(world, scenario, minutes, say).finally(() => kubelet.stop())
  const probes = await kubelet.stop()
  const problems: string[] = []
  for (const [name, code] of await stopAll(fleet)) if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
  problems.push(...stepsBack(await view.commits(installation.topics.dispatcherGroup, installation.topics.events)))
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
  const loadText = `${minutes} minutes at ${perSecond} events a second, which is ${soak.share * 100} % of ${capacity}`
  say(loadText)
  const load = loadFrom(world, bursts.length * numbersEach, perSecond)
  const spike = await loadSpike(world, soak.spike, perSecond, ids)
  const drained = spike.recoveredAt === undefined ? 'never' : `after ${seconds(spike.recoveredAt - spike.from)} s`
  const spikeText = `${soak.spike.times} times this load for ${seconds(spike.from - spike.at)} s. The backlog was delivered ${drained}`
  say(spikeText)
  const samples = await sampled(world, performance.now() + minutes * 60_000)
  await load.stop()
  await ledger.settled(ids, giveUpMs * patience)
  return { injected: [spike], samples, measured: [loadText, spikeText] }
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function loadFrom({ cluster, installation, ledger }: World, first: number, perSecond: number): Load {
  const { codec, topics } = installation
  return startLoad({ brokers: cluster.brokers, topic: topics.events, partitions, perSecond, codec, ledger, first })
}

/** Part of the deliveries after which the capacity is calculated. The others wait for retries. */
const measuredPart = 0.9

/** Measures the events per second that the processes deliver to all destinations under overload. */
async function capacityOf(world: World, destinations: readonly string[]): Promise<number> {
  const { ledger, patience } = world
  let perSecond = 0
  for (const [index, count] of bursts.entries()) {
    const [at, already, delivered] = [performance.now(), ledger.sent.size, ledger.deliveries.length]
    const load = loadFrom(world, index * numbersEach, unlimitedPerSecond)
    while (ledger.sent.size < already + count) await delay(10)
    await load.stop()
    const measured = (ledger.sent.size - already) * measuredPart
    const settled = ledger.settled(destinations, giveUpMs * patience).then(() => true)
    while (ledger.deliveries.length < delivered + measured * destinations.length)
      if (await Promise.race([settled, delay(10)])) break
    perSecond = Math.round((measured * 1_000) / (performance.now() - at))
    await settled
  }
  return perSecond
}

/**
 * Multiplies the load. The recovery ends when all destinations have got all events that were
 * written during the spike.
 */
async function loadSpike(
  world: World,
  spike: SoakScenario['soak']['spike'],
  perSecond: number,
  destinations: readonly string[],
): Promise<Injected> {
  const { ledger, patience } = world
  await delay(settleInMs)
  const at = performance.now()
  const load = loadFrom(world, (bursts.length + 1) * numbersEach, (spike.times - 1) * perSecond)
  await delay(spike.seconds * 1_000)
  await load.stop()
  const from = performance.now()
  const backlog = [...ledger.sent.values()].filter(sent => sent.at >= at && sent.acknowledgedAt !== undefined)
  const targets = backlog.flatMap(({ id }) => destinations.map(destination => targetOf({ id, destination })))
  const patienceMs = 2 * giveUpMs * patience
  const recoveredAt = await ledger.seen(new Set(targets), { from: at, keyOf: targetOf, patienceMs })
  return {
    what: `${spike.times} times the load for ${spike.seconds} s`,
    at,
    from,
    recoveredAt,
    victims: [],
  }
}

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
