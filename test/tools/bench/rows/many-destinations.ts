import { setTimeout as pause } from 'node:timers/promises'
import { keyFile } from '../../../support/config-objects/example-objects.ts'
import { operatorKey } from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { bounds, type Finding } from '../bounds.ts'
import { quietSource, sourceCount, writeDestinations } from '../changed-and-unchanged-destinations.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import type { ForwarderProcess, Job } from '../forwarders/forwarder.ts'
import { type ReadyProcess, startReady } from '../forwarders/ready-process.ts'
import { asOne } from '../forwarders/several-processes.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { live, meter, quantile, warm } from '../latency-under-load.ts'
import { changesOutcome } from '../load-with-changes.ts'
import { residentMb } from '../process-usage.ts'
import { profileOf } from '../profile-summary.ts'
import { shown } from '../report.ts'
import { type Bench, type Outcome, scaledSeconds } from './row.ts'

const load = { perSecond: 1_000, seconds: 10, delayMs: 20 }
const inFlight = 512
const dispatchers = 2
/** In ms. After this time, the memory of a ready process no longer grows. */
const settleMs = 3_000

/**
 * Measures processes with 10,000 destinations on the config topic, with and without changes of a
 * destination.
 */
export const tenThousandRow = (bench: Bench): Promise<Outcome> => withDestinations(bench, 10_000, changesOutcome)

/** Measures whether processes with 100,000 destinations start and deliver. */
export const hundredThousandRow = (bench: Bench): Promise<Outcome> => withDestinations(bench, 100_000, deliveryOutcome)

export interface Running {
  readonly installation: Installation
  readonly processes: ForwarderProcess
  readonly subject: string
  readonly transport: string
}

type Measure = (bench: Bench, running: Running) => Promise<Outcome>

async function withDestinations(bench: Bench, count: number, measure: Measure): Promise<Outcome> {
  const { stage, say } = bench
  const transport = cheapestOf(bench)
  const installation = await createInstallation(stage, {
    sources: sourceCount,
    encryptionKey: keyFile('first'),
    operatorKey,
  })
  const job = { stage, installation, inFlight, profile: bench.profile }
  try {
    const empty = await start(job, transport)
    const emptyMb = await settledMb(empty)
    await Promise.all(empty.map(each => each.stop()))
    say(`writing ${shown(count)} destinations to the config topic`)
    await writeDestinations(installation, count, stage.receiver.url)
    const members = await start(job, transport)
    const readyAfter = Math.max(...members.map(each => each.readyAfter))
    const destinationKb = (((await settledMb(members)) - emptyMb) / count / dispatchers) * 1_000
    say(`process ready after ${readyAfter.toFixed(2)} s, ${destinationKb.toFixed(1)} KB of memory per destination`)
    const subject = `hookline ${transport}, ${shown(count)} destinations`
    const processes = asOne(members)
    const read = meter(processes)
    try {
      const { findings, figures } = await measure(bench, { installation, processes, subject, transport })
      const noDestinations = {
        name: 'no destinations',
        measured: Math.max(...empty.map(each => each.readyAfter)),
        unit: 's',
      }
      const own: readonly Finding[] = [
        {
          ...{
            subject,
            what: 'time from process start until ready',
            unit: 's',
            measured: readyAfter,
            reference: noDestinations,
          },
          ...(count === 10_000 && bounds.readyWithDestinations),
        },
        { subject, what: 'memory per destination', unit: 'KB', measured: destinationKb },
      ]
      const { window } = read()
      // V8 writes the CPU profile when the process exits.
      await processes.stop()
      const profiles = await profileOf(subject, { profile: processes.profile, window })
      return { findings: [...own, ...findings], figures, profiles }
    } finally {
      await processes.stop()
    }
  } finally {
    await installation.close()
  }
}

/**
 * Starts the dispatchers one after the other, so that each has the core for itself during its
 * start.
 */
async function start(job: Job, transport: string): Promise<readonly ReadyProcess[]> {
  const members: ReadyProcess[] = []
  const { sources } = job.installation.base as { readonly sources: readonly object[] }
  const own = { destinations: [], sources: [...sources, { id: quietSource, writeKey: 'key-of-quiet' }] }
  for (let member = 0; member < dispatchers; member++) members.push(await startReady(job, transport, 'dispatcher', own))
  return members
}

async function settledMb(members: readonly ForwarderProcess[]): Promise<number> {
  await pause(settleMs)
  return members.flatMap(({ pids }) => pids).reduce((sum, pid) => sum + residentMb(pid), 0)
}

async function deliveryOutcome(bench: Bench, { installation, processes, subject }: Running): Promise<Outcome> {
  const { stage } = bench
  await warm(stage, installation, processes, load.delayMs)
  const run = await live(stage, installation, { ...load, seconds: scaledSeconds(bench, load.seconds) })
  const p99 = quantile(run.passages, 0.99)
  return {
    findings: [
      { subject, what: 'p99', unit: 'ms', measured: p99 },
      { subject, what: 'lost', measured: run.lost, ...bounds.lost },
      { subject, what: 'duplicated', measured: run.duplicates, ...bounds.duplicates },
    ],
    figures: [{ '': subject, 'p99 ms': p99, lost: run.lost, duplicates: run.duplicates }],
  }
}
