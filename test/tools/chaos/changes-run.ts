import { setTimeout as delay } from 'node:timers/promises'
import { type ChangeLoad, createChangeLoad } from './change-load.ts'
import { bothMarks, changedIds, changedSource, versionsIn } from './changed-destinations.ts'
import { judgeChanges } from './changes-verdict.ts'
import { createDestinations, lastDelivered, shownBy } from './create-and-observe-changed-destinations.ts'
import { type Findings, type Injected, judge } from './delivery-verdict.ts'
import { startLoad } from './event-load.ts'
import { startKubelet } from './kubelet.ts'
import { Ledger } from './message-ledger.ts'
import { stepsBack } from './offset-commits.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { deadLetters, placesOf, retriesOf, uncommitted } from './records-after-run.ts'
import type { ChangesScenario, Fault } from './scenario.ts'
import { giveUpMs, type Row, type RunOptions, rejection, started, stopAll, underLoad } from './scenario-run.ts'
import { createChance } from './seeded-random.ts'
import { openWorld, partitions, type World } from './world.ts'

interface Changed {
  readonly ids: readonly string[]
  readonly receiver: Receiver
  readonly ledger: Ledger
  readonly load: ChangeLoad
}

interface Parts {
  readonly world: World
  readonly scenario: ChangesScenario
  readonly changed: Changed
}

/** Number of the first event for the changed destinations. All other events have lower numbers. */
const firstChangedEvent = 10_000_000
/**
 * Runs and judges a scenario with changing destinations, with its own broker, processes and
 * receivers.
 * @throws when the set-up fails
 */
export async function runChangesScenario(scenario: ChangesScenario, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, load, changes } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  const changed = await openChanged(world, scenario, seed)
  const parts = { world, scenario, changed }
  try {
    const observed = await Promise.race([expose(parts, say), rejection(signal)])
    const { findings, measured } = await judged(parts, observed)
    return {
      ...{ name, seed, shows, brokers, processes: processes + changes.operators, collectors: 0 },
      ...{ perSecond: load.perSecond + changes.eventsPerSecond, measured, ...findings },
      faults: observed.injected.map(({ what }) => what),
      calls: world.ledger.calls.length + changed.ledger.calls.length,
      seconds: Math.round((performance.now() - start) / 1_000),
    }
  } finally {
    await changed.receiver.close()
    await world.close()
  }
}

async function openChanged({ operators, patience }: World, scenario: ChangesScenario, seed: number): Promise<Changed> {
  const ids = changedIds(scenario.changes.destinations)
  const ledger = new Ledger()
  const receiver = await startReceiver(ledger)
  for (const id of ids) receiver.inspect(id, bothMarks)
  const chance = createChance(seed, `${scenario.name} changes`)
  const patienceMs = giveUpMs * patience
  const load = createChangeLoad({ operators, receiver, destinations: ids, chance, patienceMs })
  return { ids, receiver, ledger, load }
}

/**
 * Starts the loads, injects the faults during changes, sends the last events, and stops the
 * processes.
 */
async function expose({ world, scenario, changed }: Parts, say: (line: string) => void) {
  const { installation, fleet, operators, ledger, view, cluster, patience } = world
  const { topics, codec } = installation
  const problems: string[] = []
  await started(operators, scenario.changes.operators)
  await createDestinations(operators, changed, patience)
  // A dispatcher reads the config topic before it delivers. So it knows the destinations when the
  // first event arrives.
  await started(fleet, scenario.processes)
  const kubelet = startKubelet([fleet, operators])
  const toAll = { brokers: cluster.brokers, topic: topics.events, partitions, codec }
  const loads = [
    startLoad({ ...toAll, ledger, perSecond: scenario.load.perSecond }),
    startLoad({
      ...{ ...toAll, ledger: changed.ledger, perSecond: scenario.changes.eventsPerSecond },
      ...{ first: firstChangedEvent, sourceId: changedSource },
    }),
  ]
  const stopLoads = () => Promise.all(loads.map(load => load.stop()))
  try {
    const faults = scenario.faults.map(fault => duringChanges(fault, scenario, changed.load))
    const injected = await underLoad(world, { ...scenario, faults }, { stop: async () => {} }, { problems, say })
    say('the faults have ended; waiting for the changes')
    const seen = await changed.load.ended()
    const lists = await shownBy(operators, patience)
    const lastFrom = await lastDelivered({ ...changed, partitions }, patience)
    await stopLoads()
    say('the load has ended; waiting for the remaining deliveries')
    await ledger.settled(
      scenario.destinations.map(({ id }) => id),
      giveUpMs * patience,
    )
    await changed.ledger.settled(changed.ids, giveUpMs * patience)
    const probes = await kubelet.stop()
    for (const each of [operators, fleet])
      for (const [name, code] of await stopAll(each))
        if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
    problems.push(...fleet.crashes(), ...operators.crashes())
    problems.push(...stepsBack(await view.commits(topics.dispatcherGroup, topics.events)))
    problems.push(...(await uncommitted(world)))
    return { injected, problems, probes, seen, lists, lastFrom }
  } finally {
    await Promise.allSettled([stopLoads()])
    await kubelet.stop()
  }
}

const duringChanges = (fault: Fault, { changes }: ChangesScenario, load: ChangeLoad): Fault => ({
  name: fault.name,
  async inject(world) {
    load.begin(changes.perFault)
    await delay(world.chance.between(changes.faultAfterMs.from, changes.faultAfterMs.to))
    return fault.inject(world)
  },
})

type Observed = Awaited<ReturnType<typeof expose>>

async function judged({ world, scenario, changed }: Parts, observed: Observed) {
  const { ledger, installation, patience } = world
  const { limits, delivery, destinations, processes, changes } = scenario
  const { injected, problems, probes, seen, lists, lastFrom } = observed
  const { waiting, retried } = await retriesOf(world, delivery.schedule)
  const places = await placesOf(world)
  const placesIn = ({ sent }: Ledger) => new Map([...places].filter(([id]) => sent.has(id)))
  const common = { limits, patience, waiting, deadLettered: await deadLetters(world) }
  const steady = judge({
    ...{ ...common, probes, problems, injected: ofDispatchers(injected) },
    ...{ destinations: destinations.map(({ id }) => id), acknowledged: ledger.acknowledged() },
    ...{
      deliveries: ledger.deliveries,
      refused: ledger.refused(),
      order: { places: placesIn(ledger), calls: ledger.calls, retried },
    },
  })
  const changing = judge({
    ...{ ...common, problems: [], injected: ofAnyDispatcher(injected), destinations: changed.ids },
    ...{ acknowledged: changed.ledger.acknowledged(), refused: changed.ledger.refused() },
    deliveries: changed.ledger.deliveries.map(each => ({ ...each, process: anyDispatcher })),
    order: { places: placesIn(changed.ledger), calls: changed.ledger.calls, retried },
  })
  const isLast = ({ sent }: { readonly sent: { readonly at: number } }) => sent.at >= lastFrom
  const result = judgeChanges({
    ...{ destinations: changed.ids, wanted: changes.perFault * injected.length, seen, lists, partitions },
    records: versionsIn(await installation.read(installation.topics.config)),
    calls: changed.ledger.calls,
    last: changed.ledger.deliveries.filter(isLast).map(each => ({ ...each, partition: each.sent.partition })),
    dispatchers: { names: new Set(ledger.deliveries.filter(isLast).map(each => each.process)), expected: processes },
  })
  return { findings: sumOf(steady, changing, result.failures), measured: result.measured }
}

/**
 * Used as the sender of all requests to changed destinations. These requests do not show their
 * process, so the kill of any dispatcher can explain a duplicate.
 */
const anyDispatcher = 'a dispatcher'

const ofDispatchers = (injected: readonly Injected[]): readonly Injected[] =>
  injected.map(each => ({ ...each, victims: each.victims.filter(name => name.startsWith('p')) }))

/**
 * Returns the faults with `anyDispatcher` as the victim, and with no recovery time, because only
 * the verdict on the unchanged destinations judges recoveries.
 */
const ofAnyDispatcher = (injected: readonly Injected[]): readonly Injected[] =>
  ofDispatchers(injected).map(each => ({
    ...each,
    recoveredAt: each.from,
    victims: each.victims.map(() => anyDispatcher),
  }))

function sumOf(steady: Findings, changing: Findings, failures: readonly string[]): Findings {
  const sum = (of: (findings: Findings) => number): number => of(steady) + of(changing)
  return {
    ...{ sent: sum(each => each.sent), delivered: sum(each => each.delivered), waiting: sum(each => each.waiting) },
    ...{ deadLettered: sum(each => each.deadLettered), lost: sum(each => each.lost) },
    duplicates: sum(each => each.duplicates),
    duplicated: {
      bySender: sum(each => each.duplicated.bySender),
      inProgress: sum(each => each.duplicated.inProgress),
      ours: sum(each => each.duplicated.ours),
    },
    ...{ orderedPairs: sum(each => each.orderedPairs), reversed: sum(each => each.reversed) },
    recoveryMs: steady.recoveryMs,
    unreadyMs: steady.unreadyMs,
    latestMs: Math.max(steady.latestMs ?? 0, changing.latestMs ?? 0),
    pauseMs: null,
    intake: null,
    failures: [...steady.failures, ...changing.failures.map(each => `changed destinations: ${each}`), ...failures],
  }
}
