import { setTimeout as delay } from 'node:timers/promises'
import { bars } from '../bars.ts'
import { type Draining, drainingOf } from '../draining.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { cheapestOf } from '../growth.ts'
import { createInstallation, type Installation } from '../installation.ts'
import { live, type Passage, passagesOf, quantile, warm } from '../live.ts'
import { Stalled } from '../receiver/receiver.ts'
import type { Stage } from '../stage.ts'
import { type Bench, type Outcome, scaled, scaledSeconds } from './row.ts'

const [perSecond, delayMs] = [1_000, 20]
/** 64 is what the configuration says by default. */
const [inFlight, perWebhook] = [512, 64]
/** What one endpoint can be given in a second through its places. */
const laneRate = (perWebhook * 1_000) / delayMs
/** A call that is not answered ends after five. */
const lastCallsMs = 6_000
/** What was put off waits at most five minutes for its next turn. */
const patienceMs = 330_000

/** Every second event is for this one. */
const isMortal = (number: number): boolean => number % 2 === 1
const isHealthy = ({ number }: Passage): boolean => !isMortal(number)

/** One of two endpoints answers no more while many events come for it, and then again: how it gets what it has missed, and what the other one notices. */
export async function outageRow(bench: Bench): Promise<Outcome> {
  const { stage, say } = bench
  const waiting = scaled(bench, 100_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const installation = await createInstallation(stage, { sources: 2 })
  const targets = installation.sourceIds.map((sourceId, index) => ({
    sourceId,
    url: isMortal(index) ? stage.receiver.mortalUrl : stage.receiver.url,
  }))
  const process = await forwarder.start({ stage, installation, targets, inFlight, perWebhook })
  try {
    await warm(stage, installation, process, delayMs)
    say(`${forwarder.name}: ${perSecond} events a second, both endpoints answer`)
    const calm = await live(stage, installation, { perSecond, seconds: scaledSeconds(bench, 15), delayMs })
    say(`one of them answers no more: ${waiting} events for each`)
    const first = installation.appended()
    await endure(stage, installation, waiting)
    say(`it answers again; ${perSecond} events a second go on`)
    const healed = await heal(bench, installation, { first, waiting })
    const before = quantile(calm.passages.filter(isHealthy), 0.99)
    return outcomeOf(`${forwarder.name}, ${waiting} waited`, before, healed)
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
  /** p99 of the events for the other endpoint that were appended meanwhile, in ms. */
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

/** Between two turns of what was put off nothing may come for long. */
async function reachedBy(deadline: number, reached: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await reached()
      return
    } catch (error) {
      if (!(error instanceof Stalled) || performance.now() > deadline) return
      await delay(1_000)
    }
}

function outcomeOf(subject: string, before: number, { draining, p99, lost }: Healed): Outcome {
  const seconds = (draining.to - draining.from) / 1_000
  const { mostInASecond } = draining
  return {
    figures: [
      {
        'drained in s': seconds,
        'deliveries / s': Math.round(draining.perSecond),
        'in the fullest second': mostInASecond,
        'p99 ms of the other': p99,
        'p99 ms before': before,
        lost,
      },
    ],
    findings: [
      { subject, what: 'drained in', unit: 's', measured: seconds },
      {
        subject,
        what: 'fullest second, of what its places let through',
        measured: mostInASecond / laneRate,
        ...bars.stampede,
      },
      { subject, what: 'drained at, of what its places let through', measured: draining.perSecond / laneRate },
      {
        ...{ subject, what: 'p99 of the other endpoint, of that before', measured: p99 / before },
        ...{ reference: { name: 'before', measured: before, unit: 'ms' }, ...bars.besideDraining },
      },
      { subject, what: 'lost', measured: lost, ...bars.lost },
    ],
  }
}
