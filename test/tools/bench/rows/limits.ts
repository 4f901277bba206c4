import { setTimeout as pause } from 'node:timers/promises'
import { type AdminClient, createAdminClient, until } from '../../../support/kafka/admin.ts'
import { LimitedReceiver } from '../../../support/webhook/limited-receiver.ts'
import { bounds, type Finding } from '../bounds.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import { secret } from '../forwarders/hookline.ts'
import { type ReadyProcess, startReady } from '../forwarders/ready-process.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { type Bench, type Figures, type Outcome, scaledSeconds } from './row.ts'

const ratePerSecond = 50
const endpointLimit = { first: 20, raised: 40 }
/** Each of the two destinations gets half of the events: 70 per second, more than either limit. */
const eventsPerSecond = 140
const waiting = 2_000
/**
 * Durations in seconds.
 * - `phase`: measured period between two rebalances.
 * - `aroundRebalance`: measured time before and after a rebalance.
 * - `settle`: wait until the request rate to the endpoint with 429 is constant.
 * - `settled`: period over which this rate is measured.
 * - `raisedAtMost`: maximum wait until this rate has reached the raised limit.
 * - `raisedOver`: the limit is reached when the mean rate over this period is close to it.
 */
const seconds = { phase: 22, aroundRebalance: 11, settle: 25, settled: 30, raisedAtMost: 90, raisedOver: 10 }
const pollMs = 500

interface Phase {
  readonly name: string
  readonly from: number
  readonly until: number
}

/**
 * Measures how exactly Hookline keeps `ratePerSecond: 50`, also during rebalances, and the limit of
 * an endpoint with 429.
 */
export async function limitsRow(bench: Bench): Promise<Outcome> {
  const { stage, say } = bench
  const installation = await createInstallation(stage, { sources: 2 })
  const limited = await LimitedReceiver.started()
  const busy = await LimitedReceiver.started(endpointLimit.first)
  const admin = await createAdminClient(stage.brokers.join(','))
  const name = `hookline ${cheapestOf(bench)}`
  const fleet = createFleet(bench, installation, admin, { limited, busy })
  await installation.fill(waiting)
  const load = keepFeeding(installation)
  try {
    await fleet.resize(1)
    await limited.accepts(100)
    const startedAt = performance.now()
    const ofEndpoint = await endpointFigures(bench, busy, fleet.newest())
    const phases: Phase[] = [{ name: '1 process', from: startedAt, until: performance.now() }]
    for (const size of [2, 5, 2, 1]) {
      const before = fleet.size
      const rebalanceFrom = performance.now() - seconds.aroundRebalance * 1_000
      await fleet.resize(size)
      const balancedAt = performance.now()
      say(`${size} processes, before ${before}: they now share the partitions evenly`)
      await pause(scaledSeconds(bench, seconds.phase) * 1_000)
      const end = { from: rebalanceFrom, until: balancedAt + seconds.aroundRebalance * 1_000 }
      phases.push({ name: `rebalance from ${before} to ${size} processes`, ...end })
      const name = size > before ? `${size} processes` : `${size} remaining after a rebalance`
      phases.push({ name, from: balancedAt, until: performance.now() })
    }
    const deadLetters = await installation.countRecords(installation.topics.deadLetter)
    return outcomeOf({ name, limited, phases, ofEndpoint, deadLetters })
  } finally {
    await load.stop()
    await fleet.resize(0)
    await admin.close()
    await Promise.all([limited.close(), busy.close()])
    await installation.close()
  }
}

/** Creates processes whose number can be changed. The newest processes are stopped first. */
function createFleet(
  bench: Bench,
  installation: Installation,
  admin: AdminClient,
  { limited, busy }: Readonly<Record<'limited' | 'busy', LimitedReceiver>>,
) {
  const { topics, partitions } = installation
  const members: ReadyProcess[] = []
  // `standardWebhooks` adds a header with the time of the attempt, for `maxSentInOneSecond`.
  const policy = { ratePerSecond, standardWebhooks: true }
  const own = {
    destinations: [
      { id: 'limited', sources: ['s0'], sharedSecret: secret, policy, webhooks: [{ url: limited.url }] },
      { id: 'busy', sources: ['s1'], webhooks: [{ url: busy.url }] },
    ],
  }
  const start = (): Promise<ReadyProcess> =>
    startReady({ stage: bench.stage, installation, inFlight: 512 }, cheapestOf(bench), 'dispatcher', own)
  const isBalanced = async (): Promise<true | undefined> => {
    const owned = [...((await admin.members(topics.dispatcherGroup, topics.events)) ?? new Map()).values()]
    const counts = owned.map(({ length }) => length)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    const sum = counts.reduce((total, each) => total + each, 0)
    return (counts.length === members.length && sum === partitions && most - least <= 1) || undefined
  }
  return {
    get size() {
      return members.length
    },
    newest: () => members.at(-1) as ReadyProcess,
    /** Resolves when `size` processes share the partitions evenly. */
    async resize(size: number): Promise<void> {
      const missing = Math.max(0, size - members.length)
      members.push(...(await Promise.all(Array.from({ length: missing }, start))))
      await Promise.all(members.splice(size).map(member => member.stop()))
      if (size > 0) await Promise.race([until(isBalanced), ...members.map(({ died }) => died)])
    },
  }
}

function keepFeeding(installation: Installation): { stop(): Promise<void> } {
  let isStopped = false
  const fed = (async () => {
    while (!isStopped) await installation.feed(eventsPerSecond, eventsPerSecond)
  })()
  return {
    stop() {
      isStopped = true
      return fed
    },
  }
}

interface EndpointFigures {
  /** Accepted requests per second after the rate has settled. */
  readonly perSecond: number
  /** Relative difference between `perSecond` and the endpoint's limit. */
  readonly deviation: number
  /**
   * Seconds until the rate reached the endpoint's raised limit. Infinite if this takes longer than
   * `raisedAtMost`.
   */
  readonly raisedAfter: number
  readonly openBreakers: number
}

async function endpointFigures(bench: Bench, busy: LimitedReceiver, process: ReadyProcess): Promise<EndpointFigures> {
  const { first, raised } = endpointLimit
  await pause(seconds.settle * 1_000)
  const from = performance.now()
  await pause(scaledSeconds(bench, seconds.settled) * 1_000)
  const { perSecond } = busy.arrivals(from, performance.now())
  bench.say(`endpoint with 429 above ${first} requests a second: it accepts ${perSecond.toFixed(1)} a second`)
  busy.limitTo(raised)
  const raisedAt = performance.now()
  let raisedAfter = Number.POSITIVE_INFINITY
  while (raisedAfter === Number.POSITIVE_INFINITY && performance.now() - raisedAt < seconds.raisedAtMost * 1_000) {
    await pause(pollMs)
    const now = performance.now()
    const since = Math.max(raisedAt, now - seconds.raisedOver * 1_000)
    const isFull = now - raisedAt >= seconds.raisedOver * 1_000
    const least = raised * (1 - bounds.limitDeviation.must.atMost)
    if (isFull && busy.arrivals(since, now).perSecond >= least) raisedAfter = (now - raisedAt) / 1_000
  }
  const metrics = await process.metrics()
  const openBreakers =
    (metrics.get('hookline_breaker_open{destination="busy"}') ?? 0) +
    (metrics.get('hookline_deferrals_total{cause="breaker_open"}') ?? 0)
  return { perSecond, deviation: Math.abs(perSecond - first) / first, raisedAfter, openBreakers }
}

interface Measured {
  readonly name: string
  readonly limited: LimitedReceiver
  readonly phases: readonly Phase[]
  readonly ofEndpoint: EndpointFigures
  readonly deadLetters: number
}

function outcomeOf({ name, limited, phases, ofEndpoint, deadLetters }: Measured): Outcome {
  const findings: Finding[] = []
  const figures: Figures[] = []
  for (const { name: phase, from, until: to } of phases) {
    const { perSecond, maxInOneSecond, maxSentInOneSecond } = limited.arrivals(from, to)
    const subject = `${name}, ${ratePerSecond} a second, ${phase}`
    const deviation = Math.abs(perSecond - ratePerSecond)
    const length = (to - from) / 1_000
    figures.push({
      '': phase,
      seconds: length,
      'deliveries / s': perSecond,
      'attempts in the busiest second': maxSentInOneSecond,
      'arrivals in the busiest second': maxInOneSecond,
    })
    findings.push(
      { subject, what: 'deliveries', unit: 'per second', measured: perSecond },
      { subject, what: 'deviation from the rate', unit: 'per second', measured: deviation, ...bounds.rateDeviation },
      { subject, what: 'deliveries in the busiest second', measured: maxSentInOneSecond, ...bounds.rateInOneSecond },
    )
  }
  const subject = `${name}, endpoint with 429 above ${endpointLimit.first} a second`
  const { perSecond, deviation, raisedAfter, openBreakers } = ofEndpoint
  findings.push(
    { subject, what: 'accepted requests', unit: 'per second', measured: perSecond },
    {
      ...{ subject, what: 'deviation from the limit, as a part of the limit', measured: deviation },
      ...bounds.limitDeviation,
    },
    { subject, what: 'time until the raised limit is used', unit: 's', measured: raisedAfter, ...bounds.raisedLimit },
    { subject, what: 'open circuit breakers', measured: openBreakers, ...bounds.harmOf429 },
    { subject, what: 'dead letters', measured: deadLetters, ...bounds.harmOf429 },
  )
  return { findings, figures }
}
