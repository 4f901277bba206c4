import { setTimeout as delay } from 'node:timers/promises'
import { bounds } from '../bounds.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { live, type Passage, passagesOf, quantile, warm } from '../latency-under-load.ts'
import { Stalled } from '../receiver/receiver.ts'
import { type Draining, drainingOf } from '../recovered-endpoint-rate.ts'
import { shown } from '../report.ts'
import type { Stage } from '../test-bed.ts'
import { type Bench, type Outcome, scaled, scaledSeconds } from './row.ts'

const [perSecond, delayMs] = [1_000, 20]
/** 64 is the default of `perWebhook`. */
const [inFlight, perWebhook] = [512, 64]
/** Maximum requests per second to one endpoint, from `perWebhook` and the response time. */
const maxPerSecond = (perWebhook * 1_000) / delayMs
/** Wait, in ms, for the last requests to the failing endpoint, which time out after 5 s. */
const lastCallsMs = 6_000
/**
 * Time limit for the backlog, in ms. A deferred record waits at most five minutes for its next
 * attempt.
 */
const patienceMs = 330_000

/** Every second event goes to the endpoint that fails. */
const isMortal = (number: number): boolean => number % 2 === 1
const isHealthy = ({ number }: Passage): boolean => !isMortal(number)

/**
 * One of two endpoints stops responding while events arrive for it. Measures how fast it gets its
 * backlog when it responds again, and the latency of the other endpoint's events.
 */
export async function outageRow(bench: Bench): Promise<Outcome> {
  const { stage, say } = bench
  const waiting = scaled(bench, 100_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const installation = await createInstallation(stage, { sources: 2 })
  const targets = installation.sourceIds.map((sourceId, index) => ({
    sourceId,
    url: isMortal(index) ? stage.receiver.failingUrl : stage.receiver.url,
  }))
  const process = await forwarder.start({ stage, installation, targets, inFlight, perWebhook })
  try {
    await warm(stage, installation, process, delayMs)
    say(`${forwarder.name}: ${perSecond} events a second, both endpoints respond`)
    const calm = await live(stage, installation, { perSecond, seconds: scaledSeconds(bench, 15), delayMs })
    say(`one of them stops responding, while ${waiting} events arrive for each`)
    const first = installation.appended()
    await endure(stage, installation, waiting)
    say(`this endpoint responds again, while the load of ${perSecond} events a second continues`)
    const healed = await heal(bench, installation, { first, waiting })
    const before = quantile(calm.passages.filter(isHealthy), 0.99)
    return outcomeOf(`${forwarder.name}, ${shown(waiting)} events waited`, before, healed)
  } finally {
    await process.stop()
    await installation.close()
  }
}

async function endure({ receiver }: Stage, installation: Installation, waiting: number): Promise<void> {
  const [first, count] = [installation.appended(), 2 * waiting]
  await receiver.begin({ first, count, delayMs, passesOneIn: 0, isDead: true, marks: [waiting], keepsLog: false })
  await installation.fill(count)
  await receiver.reached(waiting)
  await delay(lastCallsMs)
}

interface Healed {
  readonly draining: Draining
  /**
   * p99 latency in ms of the other endpoint's events that were appended while the backlog was
   * delivered.
   */
  readonly p99: number
  readonly lost: number
}

async function heal(
  bench: Bench,
  installation: Installation,
  { first, waiting }: { readonly first: number; readonly waiting: number },
): Promise<Healed> {
  const { receiver } = bench.stage
  const [liveFirst, liveCount] = [installation.appended(), perSecond * scaledSeconds(bench, 75)]
  const [count, expected] = [liveFirst + liveCount - first, waiting + liveCount]
  await receiver.begin({ first, count, delayMs, passesOneIn: 0, isDead: false, marks: [expected], keepsLog: true })
  const healedAt = performance.now()
  await installation.feed(liveCount, perSecond)
  await reachedBy(healedAt + patienceMs, () => receiver.reached(expected))
  const { tally } = await receiver.tell()
  const draining = drainingOf(tally.log, {
    isFor: isMortal,
    isMissed: number => isMortal(number) && number < liveFirst,
  })
  const appended = await installation.appendTimes()
  const meanwhile = passagesOf(appended, tally.log, liveFirst, liveCount).filter(passage => {
    const at = appended.get(passage.number) ?? Number.NaN
    return isHealthy(passage) && at >= draining.from && at <= draining.to
  })
  return { draining, p99: quantile(meanwhile, 0.99), lost: expected - tally.delivered }
}

/**
 * Waits until `reached` resolves or the deadline has passed. `Stalled` does not end the wait,
 * because minutes may pass between two attempts of deferred records.
 */
async function reachedBy(deadline: number, reached: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await reached()
      return
    } catch (error) {
      if (!(error instanceof Stalled)) throw error
      if (performance.now() > deadline) return
      await delay(1_000)
    }
}

function outcomeOf(subject: string, before: number, { draining, p99, lost }: Healed): Outcome {
  const seconds = (draining.to - draining.from) / 1_000
  const { mostInASecond } = draining
  return {
    figures: [
      {
        's to deliver the backlog': seconds,
        'deliveries / s': Math.round(draining.perSecond),
        'requests in the busiest second': mostInASecond,
        'p99 ms of the other endpoint': p99,
        'p99 ms before the outage': before,
        lost,
      },
    ],
    findings: [
      { subject, what: 'time to deliver the backlog', unit: 's', measured: seconds },
      {
        subject,
        what: 'requests in the busiest second, relative to the 3,200 possible',
        measured: mostInASecond / maxPerSecond,
        ...bounds.stampede,
      },
      {
        subject,
        what: 'average requests per second, relative to the 3,200 possible',
        measured: draining.perSecond / maxPerSecond,
      },
      {
        ...{ subject, what: 'p99 of the other endpoint, relative to before the outage', measured: p99 / before },
        ...{ reference: { name: 'before the outage', measured: before, unit: 'ms' }, ...bounds.besideDraining },
      },
      { subject, what: 'lost', measured: lost, ...bounds.lost },
    ],
  }
}
