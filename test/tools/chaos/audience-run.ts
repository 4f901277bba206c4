import { setTimeout as delay } from 'node:timers/promises'
import { users } from '../../support/audience/installation.ts'
import { judgeAudience } from './audience-verdict.ts'
import { type AudienceWorld, openAudienceWorld } from './audience-world.ts'
import type { Injected } from './delivery-verdict.ts'
import { type ProbesSeen, startKubelet } from './kubelet.ts'
import { stepsBack } from './offset-commits.ts'
import { reached } from './poll-until-reached.ts'
import { processHeader } from './receiver.ts'
import { placesOf, retriesOf, uncommitted } from './records-after-run.ts'
import type { AudienceFault, AudienceScenario } from './scenario.ts'
import { giveUpMs, type Row, type RunOptions, rejection, started, stopAll } from './scenario-run.ts'
import { type Chance, createChance } from './seeded-random.ts'

interface List {
  readonly name: string
  readonly members: readonly string[]
  /** Number of messages since the start of the run after which a destination has the `members`. */
  readonly upTo: number
  readonly faults: readonly AudienceFault[]
}

interface Run {
  readonly world: AudienceWorld
  readonly chance: Chance
  readonly patience: number
  readonly say: (line: string) => void
  readonly injected: Injected[]
  readonly problems: string[]
}

/**
 * Milliseconds between two checks of the number of messages (`progress`), or of all members
 * (`end`). A check of all members reads much more data.
 */
const lookEveryMs = { progress: 50, end: 500 }
/** A fault is injected when a random percentage of a list's messages has arrived. */
const faultsAt = { from: 3, to: 90 }

/**
 * Runs and judges a scenario with its own broker, processes and receivers.
 * @throws when the set-up fails
 */
export async function runAudienceScenario(scenario: AudienceScenario, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, processes, limits, emitPerSecond } = scenario
  const start = performance.now()
  const world = await openAudienceWorld(scenario, seed)
  try {
    const run: Run = {
      world,
      chance: createChance(seed, name),
      patience,
      say,
      injected: [],
      problems: [],
    }
    const lists = listsOf(scenario)
    const { settled, syncStatuses, probes } = await Promise.race([expose(run, scenario, lists), rejection(signal)])
    const { installation, receivers } = world
    const findings = judgeAudience({
      ...{ limits, patience, settled, syncStatuses, probes, injected: run.injected },
      retried: (await retriesOf(world, scenario.delivery.schedule)).retried,
      places: await placesOf(world),
      expectedMembers: new Set(lists.at(-1)?.members),
      changes: lists.at(-1)?.upTo ?? 0,
      received: [...receivers].map(([destination, receiver]) => ({
        destination,
        members: receiver.members(),
        requests: receiver.accepted.map(({ id, at, headers }) => ({ id, at, process: String(headers[processHeader]) })),
        repeatedValues: receiver.toldAgain,
      })),
      deadLettered: (await installation.read(installation.topics.deadLetter)).length,
      problems: run.problems,
    })
    return {
      ...{ name, seed, shows, brokers: 1, processes: 2 * processes, collectors: 0, perSecond: emitPerSecond },
      ...findings,
      faults: run.injected.map(({ what }) => what),
      calls: [...receivers.values()].reduce((sum, { calls }) => sum + calls, 0),
      seconds: Math.round((performance.now() - start) / 1_000),
    }
  } finally {
    await world.close()
  }
}

/**
 * A list, a list with some members replaced, and the second list again. The third sync must cause
 * no message.
 */
function listsOf({ lists: { members, changedPercent }, faults }: AudienceScenario): readonly List[] {
  const changed = Math.round((members * changedPercent) / 100)
  const second = { members: users(changed, members + changed), upTo: members + 2 * changed }
  return [
    { name: 'the first list', members: users(0, members), upTo: members, faults: faults[0] },
    { name: 'the changed list', ...second, faults: faults[1] },
    { name: 'the same list again', ...second, faults: [] },
  ]
}

/**
 * Syncs the lists of members one after another, until one does not arrive in time. Then stops all
 * processes.
 */
async function expose(run: Run, { processes }: AudienceScenario, lists: readonly List[]) {
  const { world, say, problems } = run
  const { audiences, audiencesBehindProxy, dispatchers, proxy, installation, view } = world
  const { topics } = installation
  await Promise.all([started(audiences, processes), started(dispatchers, processes)])
  await started(audiencesBehindProxy, proxy === undefined ? 0 : 1)
  const kubelet = startKubelet([audiences, audiencesBehindProxy, dispatchers])
  const settled: { list: string; afterMs: number | null }[] = []
  let before = 0
  let probes: ProbesSeen
  try {
    for (const list of lists) {
      const afterMs = await syncedAfter(run, list, before)
      settled.push({ list: list.name, afterMs })
      say(
        `${list.name}: ${afterMs === null ? 'the endpoints did not get the whole list within the time limit' : `the endpoints had the whole list after ${Math.round(afterMs)} ms`}`,
      )
      if (afterMs === null) break
      before = list.upTo
    }
  } finally {
    probes = await kubelet.stop()
  }
  for (const fleet of [audiences, audiencesBehindProxy, dispatchers]) {
    for (const [name, code] of await stopAll(fleet))
      if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
    problems.push(...fleet.crashes())
  }
  const commits = [
    await view.commits(topics.audiencesGroup, topics.audienceInput),
    await view.commits(topics.dispatcherGroup, topics.events),
  ]
  problems.push(...commits.flatMap(stepsBack), ...(await uncommitted(world)))
  return { settled, syncStatuses: await world.syncStatuses(), probes }
}

/**
 * Syncs a list and injects its faults. When both have ended, measures the ms until every
 * destination has the list. Resolves with null after the time limit.
 */
async function syncedAfter(run: Run, { members, upTo, faults }: List, before: number): Promise<number | null> {
  const { world, chance, patience } = run
  const receivers = [...world.receivers.values()]
  const sum = (): number => receivers.reduce((all, { taken }) => all + taken.size, 0)
  const points = faults.map(() => chance.between(faultsAt.from, faultsAt.to)).sort((a, b) => a - b)
  const harm = async (): Promise<void> => {
    for (const [index, fault] of faults.entries()) {
      const point = points[index] ?? 0
      const next = (before + ((upTo - before) * point) / 100) * receivers.length
      if (!(await reached(() => sum() >= next, { everyMs: lookEveryMs.progress, patienceMs: giveUpMs * patience })))
        return
      await inject(fault, run)
    }
  }
  await Promise.all([world.sync(members), harm()])
  const at = performance.now()
  const truth = new Set(members)
  const isSettled = await reached(() => settles(world, truth), {
    everyMs: lookEveryMs.end,
    patienceMs: giveUpMs * patience,
  })
  return isSettled ? performance.now() - at : null
}

function inject(fault: AudienceFault, run: Run): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return killAny(run)
    case 'link':
      return spoilLink(run, fault)
    case 'restart':
      return restartAll(run)
  }
}

async function spoilLink(
  { world: { proxy, audiencesBehindProxy }, injected, say }: Run,
  { state, seconds }: AudienceFault & { readonly kind: 'link' },
): Promise<void> {
  if (proxy === undefined) throw new Error('the scenario has no process behind a proxy')
  const victims = audiencesBehindProxy.members().map(({ name }) => name)
  const at = performance.now()
  proxy.set(state)
  await delay(seconds * 1_000)
  proxy.set({ kind: 'open' })
  const from = performance.now()
  injected.push({ what: `link ${state.kind} ${seconds} s`, at, from, recoveredAt: undefined, victims, healedAt: from })
  say(`link to Kafka ${state.kind} for ${seconds} s`)
}

async function restartAll({ world: { audiences, audiencesBehindProxy }, injected, problems, say }: Run): Promise<void> {
  const at = performance.now()
  for (const fleet of [audiences, audiencesBehindProxy]) {
    const count = fleet.members().length
    for (const [name, code] of await stopAll(fleet))
      if (code !== 0) problems.push(`${name} ended with exit code ${code} after SIGTERM`)
    await started(fleet, count)
  }
  injected.push({ what: 'restart of all', at, from: at, recoveredAt: undefined, victims: [] })
  say('every audiences process was restarted')
}

/** Kills a random process with SIGKILL and starts another one immediately. */
async function killAny({ world: { audiences, dispatchers }, chance, injected, say }: Run): Promise<void> {
  const fleet = chance.pick([audiences, dispatchers])
  const member = chance.pick(fleet.members())
  const at = performance.now()
  await fleet.kill(member)
  const { name } = await fleet.start()
  const what = `SIGKILL ${member.name}`
  injected.push({ what, at, from: at, recoveredAt: undefined, victims: [member.name] })
  say(`SIGKILL of ${member.name}; ${name} starts in its place`)
}

/**
 * Whether every endpoint has exactly the members in `truth`, all input is committed and no change
 * is in flight. Cheap checks come first.
 */
async function settles(world: AudienceWorld, truth: ReadonlySet<string>): Promise<boolean> {
  const { receivers, view, installation } = world
  const { audiencesGroup, audienceInput } = installation.topics
  for (const receiver of receivers.values()) {
    const members = receiver.members()
    if (members.size !== truth.size || ![...truth].every(user => members.has(user))) return false
  }
  const [committed, ends] = [await view.committed(audiencesGroup, audienceInput), await view.ends(audienceInput)]
  if ([...ends].some(([partition, end]) => (committed.get(partition) ?? 0) < end)) return false
  return (await world.syncStatuses()).inFlight === 0
}
