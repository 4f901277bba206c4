import { cheapestOf, costByStepWithProfiles, roundsOf, type Step } from '../delivery-cost-by-parameter.ts'
import { drain } from '../drain-topic.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { repeatedBacklog } from '../options.ts'
import { shown } from '../report.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const sizes = [10_000, 100_000, 1_000_000, 10_000_000]
const delayMs = 20
const inFlight = 512

/** Measures the CPU time of a delivery while a long backlog waits, after a warm-up. */
export async function backlogRow(bench: Bench): Promise<Outcome> {
  const { stage, profile } = bench
  const warmUp = scaled(bench, 60_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const steps = sizes
    .filter(size => size <= bench.backlog)
    .map((size): Step => {
      const waiting = scaled(bench, size)
      const count = warmUp + waiting
      return {
        name: `backlog of ${shown(size)}`,
        ...(size > repeatedBacklog && { rounds: 1 }),
        async run() {
          const installation = await createInstallation(stage)
          await installation.fill(count)
          const measured = { from: warmUp, to: warmUp + Math.ceil(waiting * 0.95) }
          const run = await drain(forwarder, { stage, installation, inFlight, profile }, { count, delayMs, measured })
          await installation.close()
          return run
        },
      }
    })
  const rounds = await roundsOf(bench, steps)
  return costByStepWithProfiles(forwarder.name, steps, rounds, 'CPU per delivery, relative to a backlog of 10,000')
}
