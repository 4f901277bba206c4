import { drain } from '../drain.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { cheapestOf, growthOutcome, roundsOf, type Step } from '../growth.ts'
import { createInstallation, type Installation } from '../installation.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const sizes = [1, 10, 100, 1_000]
const delayMs = 20
const inFlight = 512

/** What a delivery costs when there are many destinations: each event goes to one of them, in turn. */
export async function destinationsRow(bench: Bench): Promise<Outcome> {
  const { stage } = bench
  const count = scaled(bench, 80_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const installations: Installation[] = []
  const steps: Step[] = []
  for (const destinations of sizes) {
    bench.say(`filling a topic with ${count} events for ${destinations} destinations`)
    const installation = await createInstallation(stage, { sources: destinations })
    await installation.fill(count)
    installations.push(installation)
    const targets = installation.sourceIds.map((sourceId, index) => ({
      sourceId,
      url: `${stage.receiver.url}/${index}`,
    }))
    steps.push({
      name: destinations === 1 ? '1 destination' : `${destinations} destinations`,
      async run() {
        const run = await drain(forwarder, { stage, installation, targets, inFlight }, { count, delayMs })
        await installation.forgetPositions()
        return run
      },
    })
  }
  const rounds = await roundsOf(bench, steps)
  for (const installation of installations) await installation.close()
  return growthOutcome(forwarder.name, steps, rounds)
}
