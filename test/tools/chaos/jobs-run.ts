import { judgeIntake } from './collector-verdict.ts'
import { type CollectorsSeen, watchCollectors } from './collector-watch.ts'
import { recordsOfJobs } from './count-records-per-delivery.ts'
import { type EndedJob, type JobsSeen, type LedgerTotalsSeen, readLedger, replay, startJobLoad } from './job-load.ts'
import { judgeJobs } from './jobs-verdict.ts'
import { startKubelet } from './kubelet.ts'
import { stepsBack } from './offset-commits.ts'
import { type AskOperators, createOperatorClient } from './operator-client.ts'
import { reached } from './poll-until-reached.ts'
import { placesOf, retriesOf, uncommitted } from './records-after-run.ts'
import type { JobsScenario } from './scenario.ts'
import { giveUpMs, loadOf, type Row, type RunOptions, rejection, started, stopAll, underLoad } from './scenario-run.ts'
import { createChance } from './seeded-random.ts'
import { openWorld, type World } from './world.ts'

type Say = (line: string) => void

const lookEveryMs = 1_000

/**
 * Runs and judges a scenario with replays and resends.
 * @throws when the set-up itself fails
 */
export async function runJobsScenario(scenario: JobsScenario, options: RunOptions): Promise<Row> {
  const { seed, patience = 1, say = () => {}, signal } = options
  const { name, shows, brokers, processes, load, intake, destinations, limits } = scenario
  const start = performance.now()
  const world = await openWorld(scenario, createChance(seed, name), patience)
  try {
    const { injected, seen, jobsSeen, replays, ...observed } = await Promise.race([
      expose(world, scenario, say),
      rejection(signal),
    ])
    const { ledger } = world
    const victims = injected.flatMap(each => each.victims)
    const killed = (prefix: string): number => victims.filter(each => each.startsWith(prefix)).length
    const { failures, ...findings } = judgeJobs({
      ...{ limits, patience, injected, ...observed },
      destinations: destinations.map(({ id }) => id),
      acknowledged: ledger.acknowledged(),
      calls: ledger.calls.flatMap(call => {
        const sent = ledger.sent.get(call.id)
        return sent === undefined ? [] : [{ ...call, sent }]
      }),
      kills: { operators: killed('o'), dispatchers: killed('p') },
      ...(await recordsOfJobs(world, scenario, jobsSeen.spans)),
      order: await orderWithoutJobs(world, scenario),
      ...{ jobs: [...jobsSeen.jobs, ...replays], ledgers: jobsSeen.ledgers },
    })
    const collected = judgeIntake({ limits: intake.limits, posted: ledger.posted, seen, patience, injected })
    return {
      ...{ name, seed, shows, brokers, processes: processes + scenario.jobs.operators },
      ...{ collectors: intake.collectors, perSecond: load.perSecond, ...findings },
      intake: collected,
      failures: [...failures, ...collected.failures],
      faults: injected.map(({ what }) => what),
      calls: ledger.calls.length,
      seconds: Math.round((performance.now() - start) / 1_000),
    }
  } finally {
    await world.close()
  }
}

async function orderWithoutJobs(world: World, { destinations, jobs, delivery }: JobsScenario) {
  const ids = destinations.map(({ id }) => id).filter(id => id !== jobs.replayed && id !== jobs.resent)
  const { retried } = await retriesOf(world, delivery.schedule)
  return { destinations: ids, places: await placesOf(world), retried }
}

async function expose(world: World, scenario: JobsScenario, say: Say) {
  const { installation, fleet, collectors, operators, receiver, view, patience } = world
  const { dispatcherGroup, events } = installation.topics
  const problems: string[] = []
  await Promise.all([
    started(fleet, scenario.processes),
    started(collectors, scenario.intake.collectors),
    started(operators, scenario.jobs.operators),
  ])
  const watch = watchCollectors(collectors)
  const kubelet = startKubelet([fleet, collectors, operators])
  const ask = createOperatorClient(operators, giveUpMs * patience)
  const jobLoad = startJobLoad(ask, scenario.jobs)
  try {
    const injected = await underLoad(world, scenario, loadOf(world, scenario, watch), { problems, say })
    say('the load has ended; waiting for the jobs and the remaining deliveries')
    receiver.follow(scenario.jobs.replayed, () => 200)
    const jobsSeen: JobsSeen = await jobLoad.stop()
    problems.push(...jobsSeen.problems)
    const settled = await settle(world, scenario, ask, problems)
    const probes = await kubelet.stop()
    for (const each of [operators, collectors, fleet])
      for (const [name, code] of await stopAll(each))
        if (code !== 0) problems.push(`${name} ended with exit code ${code}`)
    const seen: CollectorsSeen = await watch.stop()
    problems.push(...[fleet, collectors, operators].flatMap(each => each.crashes()))
    problems.push(...stepsBack(await view.commits(dispatcherGroup, events)), ...(await uncommitted(world)))
    return { injected, problems, probes, seen, jobsSeen, ...settled }
  } finally {
    void jobLoad.stop()
    await kubelet.stop()
    await watch.stop()
  }
}

/**
 * Replays until no dead letter is left and the ledger has every result, or until the time limit.
 */
async function settle(
  { installation, patience }: World,
  scenario: JobsScenario,
  ask: AskOperators,
  problems: string[],
) {
  const { jobs, destinations } = scenario
  const admitted = (await installation.read(installation.topics.events)).length * destinations.length
  let finalLedger: LedgerTotalsSeen | undefined
  let deadLettersLeft = 0
  const replays: EndedJob[] = []
  const isSettled = async (): Promise<boolean> => {
    finalLedger = await readLedger(ask)
    if (finalLedger.waiting > 0 || finalLedger.admitted < admitted) return false
    const { deadLetters, partial } = await ask({ path: '/v1/dead-letters' })
    deadLettersLeft = deadLetters.length
    if (deadLettersLeft > 0) replays.push(await replay(ask, jobs))
    return deadLettersLeft === 0 && partial !== true
  }
  if (!(await reached(isSettled, { everyMs: lookEveryMs, patienceMs: giveUpMs * patience })))
    problems.push('after the load, the ledger or the list of dead letters was not complete in time')
  return { finalLedger, deadLettersLeft, admitted, replays }
}
