import { cheapestOf, costByStepWithProfiles, printDrain, type Round } from './delivery-cost-by-parameter.ts'
import { type Contender, drainInTurns } from './drain-in-turns.ts'
import type { FigureName } from './figure-names.ts'
import type { Target } from './forwarders/forwarder.ts'
import { hooklineForwarder } from './forwarders/hookline.ts'
import { createInstallation, type Installation, type InstallationOptions } from './installation-topics.ts'
import { type Bench, type Outcome, scaled } from './rows/row.ts'

/** One value of the varied parameter, for example the number of destinations. */
export interface Size {
  readonly name: string
  readonly options: InstallationOptions
  /** Absent: all events go to the receiver. */
  readonly targetsOf?: (installation: Installation, receiverUrl: string) => readonly Target[]
}

const delayMs = 20
const inFlight = 512

/**
 * Measures the CPU time of a delivery at each of `sizes`. `ratio` names the figure that compares a
 * size with the first one.
 */
export async function fullTopicsOutcome(bench: Bench, sizes: readonly Size[], ratio: FigureName): Promise<Outcome> {
  const { stage, profile } = bench
  // V8's compilation takes a second of CPU time or more. With this many events, it ends before the
  // measured part.
  const count = scaled(bench, 240_000)
  const forwarder = hooklineForwarder(cheapestOf(bench))
  const contenders: Record<string, Contender> = {}
  for (const { name, options, targetsOf } of sizes) {
    bench.say(`filling a topic with ${count} events, ${name}`)
    const installation = await createInstallation(stage, options)
    await installation.fill(count)
    contenders[name] = {
      ...{ forwarder, job: { installation, inFlight, profile }, plan: { count, delayMs } },
      targetsOf: targetsOf && (receiverUrl => targetsOf(installation, receiverUrl)),
    }
  }
  const [smallest, ...larger] = Object.entries(contenders)
  const rounds: Round[] = []
  for (let run = 1; run <= bench.runs; run++)
    // Only two sizes at a time: with more, each process would be stopped for longer, and find less
    // of its data in CPU caches.
    for (const each of larger) {
      const round = new Map(
        Object.entries(await drainInTurns(stage, Object.fromEntries(smallest ? [smallest, each] : [each]))),
      )
      for (const [name, drain] of round) printDrain(bench, name, run, drain)
      rounds.push(round)
    }
  for (const { job } of Object.values(contenders)) await job.installation.close()
  return costByStepWithProfiles(forwarder.name, sizes, rounds, ratio)
}
