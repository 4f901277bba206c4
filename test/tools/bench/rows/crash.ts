import { setTimeout as delay } from 'node:timers/promises'
import { bounds } from '../bounds.ts'
import type { Job } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { type Live, live, warm } from '../latency-under-load.ts'
import { shown } from '../report.ts'
import { type Bench, type Outcome, scaledSeconds } from './row.ts'

interface CrashPlan {
  readonly perSecond: number
  readonly seconds: number
}

type Columns = Readonly<Record<'lost' | 'duplicates in s of traffic' | 'next delivery after s', number>>

const delayMs = 20
const inFlight = 512
/** Time from the start of the load to the SIGKILL. */
const killAfterMs = 4_000
/** Time in ms after the kill in which the receiver may still respond to the killed process. */
const lastAnswersMs = 250

/**
 * Measures lost and duplicated events after a SIGKILL under load, and the time until a new process
 * delivers.
 */
export async function crashRow(bench: Bench): Promise<Outcome> {
  const plan = { perSecond: 1_000, seconds: Math.max(15, scaledSeconds(bench, 20)) }
  const { perSecond } = plan
  const runs: Columns[] = []
  for (let run = 1; run <= bench.runs; run++) {
    const { lost, duplicates, nextAfter } = await crash(bench, plan)
    runs.push({ lost, 'duplicates in s of traffic': duplicates / perSecond, 'next delivery after s': nextAfter })
    bench.say(
      `after the SIGKILL: ${lost} events lost, ${duplicates} duplicated, next delivery after ${nextAfter.toFixed(1)} s`,
    )
  }
  const worst = (column: keyof Columns): number => Math.max(...runs.map(each => each[column]))
  const subject = `hookline ${bench.transports[0]}, SIGKILL at ${shown(perSecond)} events a second`
  return {
    findings: [
      { subject, what: 'lost', measured: worst('lost'), ...bounds.lost },
      {
        ...{ subject, what: 'duplicated', measured: worst('duplicates in s of traffic'), unit: 'seconds of traffic' },
        ...bounds.repeated,
      },
      {
        ...{ subject, what: 'time to the next delivery', measured: worst('next delivery after s'), unit: 's' },
        ...bounds.nextDelivery,
      },
    ],
    figures: runs.map((columns, index) => ({ run: index + 1, ...columns })),
  }
}

async function crash({ stage, transports, say }: Bench, { perSecond, seconds }: CrashPlan) {
  const installation = await createInstallation(stage)
  const job: Job = { stage, installation, inFlight }
  const forwarder = hooklineForwarder(transports[0] ?? '')
  let running = await forwarder.start(job)
  let killedAt = 0
  const killAndStart = async (): Promise<void> => {
    await delay(killAfterMs)
    killedAt = performance.timeOrigin + performance.now()
    await running.kill()
    running = await forwarder.start(job)
  }
  say(`${forwarder.name}: ${perSecond} events a second for ${seconds} s, SIGKILL after ${killAfterMs / 1_000} s`)
  try {
    await warm(stage, installation, running, delayMs)
    const run = await live(stage, installation, { perSecond, seconds, delayMs, duringLoad: killAndStart })
    return { lost: run.lost, duplicates: run.duplicates, nextAfter: nextAfter(run, killedAt) }
  } finally {
    await running.stop()
    await installation.close()
  }
}

function nextAfter({ log }: Live, killedAt: number): number {
  const next = log.times.find(at => at > killedAt + lastAnswersMs)
  return ((next ?? Number.POSITIVE_INFINITY) - killedAt) / 1_000
}
