import { drain } from '../drain.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { cheapestOf, growthOutcome, roundsOf, type Step } from '../growth.ts'
import { createInstallation, type Installation } from '../installation.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const sizes = [12, 60, 240]
const delayMs = 20
const inFlight = 512

/** What a delivery costs when one process has many partitions. */
export async function partitionsRow(bench: Bench): Promise<Outcome> {
  const { stage } = bench
  const count = scaled(bench, 80_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const installations: Installation[] = []
  const steps: Step[] = []
  for (const partitions of sizes) {
    bench.say(`filling a topic of ${partitions} partitions with ${count} events`)
    const installation = await createInstallation(stage, { partitions })
    await installation.fill(count)
    installations.push(installation)
    steps.push({
      name: `${partitions} partitions`,
      async run() {
        const run = await drain(forwarder, { stage, installation, inFlight }, { count, delayMs })
        await installation.forgetPositions()
        return run
      },
    })
  }
  const rounds = await roundsOf(bench, steps)
  for (const installation of installations) await installation.close()
  return growthOutcome(forwarder.name, steps, rounds)
}
