import { bounds } from '../bounds.ts'
import { cheapestOf, costByStep, costRatio, roundsOf, type Step } from '../delivery-cost-by-parameter.ts'
import { drain } from '../drain-topic.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { severalProcesses } from '../forwarders/several-processes.ts'
import { createInstallation } from '../installation-topics.ts'
import { median } from '../statistics.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512

/**
 * Measures the CPU time, not the duration, of deliveries by two processes, because both may share a
 * core.
 */
export async function processesRow(bench: Bench): Promise<Outcome> {
  const { stage } = bench
  const count = scaled(bench, 160_000)
  bench.say(`filling a topic with ${count} events`)
  const installation = await createInstallation(stage)
  await installation.fill(count)
  const hookline = hooklineForwarder(cheapestOf(bench))
  const step = (name: string, forwarder: Forwarder): Step => ({
    name,
    async run() {
      await installation.prepareRun()
      return drain(forwarder, { stage, installation, inFlight }, { count, delayMs })
    },
  })
  const [one, two] = [step('1 process', hookline), step('2 processes', severalProcesses(hookline, 2))]
  const rounds = await roundsOf(bench, [one, two])
  await installation.close()
  const { figures, findings } = costByStep(hookline.name, [one, two], rounds)
  const subject = `${hookline.name}, ${two.name}`
  const busier = median(rounds.map(round => Math.max(...(round.get(two.name)?.cpuShares ?? [Number.NaN]))))
  return {
    figures,
    findings: [
      // Two processes with a core each deliver 2 / r times as much if a delivery takes r times the
      // CPU time.
      ...findings,
      {
        ...{
          subject,
          what: 'deliveries with a core each, relative to one process',
          measured: 2 / costRatio(two, one, rounds),
        },
        ...bounds.twoProcesses,
      },
      { subject, what: 'part of the CPU time that the busier process used', measured: busier, ...bounds.busierOfTwo },
    ],
  }
}
