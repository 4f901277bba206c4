import { drain } from './drain.ts'
import type { Target } from './forwarders/forwarder.ts'
import { hooklineForwarder } from './forwarders/hookline.ts'
import { cheapestOf, growthOf, type Step } from './growth.ts'
import { createInstallation, type Installation, type InstallationOptions } from './installation.ts'
import { type Bench, type Outcome, scaled } from './rows/row.ts'

/** One size of what grows. */
export interface Size {
  /** `100 destinations` */
  readonly name: string
  readonly options: InstallationOptions
  /** Where events go; absent: all to the receiver. */
  readonly targetsOf?: (installation: Installation) => readonly Target[]
}

const delayMs = 20
const inFlight = 512

/** What a delivery costs from a full topic at each size. All are filled before the first is measured, so that they can take turns. */
export async function fullTopicsOutcome(bench: Bench, sizes: readonly Size[]): Promise<Outcome> {
  const { stage, profile } = bench
  // So many that what V8 compiles at the start, a second of CPU and more, is over before the steady part begins.
  const count = scaled(bench, 240_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const installations: Installation[] = []
  const steps: Step[] = []
  for (const { name, options, targetsOf } of sizes) {
    bench.say(`filling a topic with ${count} events, ${name}`)
    const installation = await createInstallation(stage, options)
    await installation.fill(count)
    installations.push(installation)
    const job = { stage, installation, inFlight, profile, ...(targetsOf && { targets: targetsOf(installation) }) }
    steps.push({
      name,
      async run() {
        const run = await drain(forwarder, job, { count, delayMs })
        await installation.forgetPositions()
        return run
      },
    })
  }
  const outcome = await growthOf(bench, forwarder.name, steps)
  for (const installation of installations) await installation.close()
  return outcome
}
