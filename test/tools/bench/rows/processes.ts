import { bars } from '../bars.ts'
import { drain } from '../drain.ts'
import { crew } from '../forwarders/crew.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { cheapestOf, costRatio, growthOutcome, roundsOf, type Step } from '../growth.ts'
import { createInstallation } from '../installation.ts'
import { median } from '../statistics.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512

/**
 * What a delivery costs when two processes share the partitions. Broker and receiver need a core, so that on two cores both processes are on
 * the other one, in turns: what is measured is their CPU time, and what two cores would deliver is worked out from it.
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
      const run = await drain(forwarder, { stage, installation, inFlight }, { count, delayMs })
      await installation.forgetPositions()
      return run
    },
  })
  const [one, two] = [step('1 process', hookline), step('2 processes', crew(hookline, 2))]
  const rounds = await roundsOf(bench, [one, two])
  await installation.close()
  const { figures, findings } = growthOutcome(hookline.name, [one, two], rounds)
  const subject = `${hookline.name}, ${two.name}`
  const busier = median(rounds.map(round => Math.max(...(round.get(two.name)?.cpuShares ?? [Number.NaN]))))
  return {
    figures,
    findings: [
      // Twice the CPU, at this price a delivery. The bar of 10 % more would be the looser one.
      ...findings.filter(({ what }) => !what.startsWith('of that with')),
      {
        ...{ subject, what: 'of one process, worked out for a core each', measured: 2 / costRatio(two, one, rounds) },
        ...bars.twoProcesses,
      },
      { subject, what: 'of the CPU taken by the busier one', measured: busier, ...bars.busierOfTwo },
    ],
  }
}
