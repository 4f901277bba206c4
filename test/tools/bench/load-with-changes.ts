import { setTimeout as pause } from 'node:timers/promises'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { bounds } from './bounds.ts'
import { probeDocument, probeId } from './changed-and-unchanged-destinations.ts'
import { unpinned } from './cpu-pinning.ts'
import { startOperator } from './forwarders/operator-process.ts'
import { live, quantile, warm } from './latency-under-load.ts'
import type { Running } from './rows/many-destinations.ts'
import { type Bench, type Outcome, scaledSeconds } from './rows/row.ts'
import { median, percentile } from './statistics.ts'
import { type Change, msUntilInForce } from './time-until-in-force.ts'

const load = { perSecond: 1_000, seconds: 16, delayMs: 20 }
const skippedSeconds = 3
const changeEveryMs = 100
/**
 * No change begins in the last `quietMs` of a load: the events of this time show whether the last
 * change is in force.
 */
const quietMs = 1_500

interface LoadResult {
  readonly p99: number
  readonly lost: number
  readonly duplicates: number
  readonly inForceMs: readonly number[]
}

/**
 * Measures the p99 latency with and without ten changes per second, and the time until each change
 * is in force.
 */
export async function changesOutcome(bench: Bench, running: Running): Promise<Outcome> {
  const { installation, processes, subject, transport } = running
  const { stage, say } = bench
  // Without pinning, the operator process inherits the core of the broker, so that the dispatchers
  // keep their own core.
  const job = { stage: { ...stage, pinning: unpinned('the operator is not measured') }, installation, inFlight: 1 }
  const operator = await startOperator(job, transport)
  try {
    await warm(stage, installation, processes, load.delayMs)
    let changed = 0
    const run = async (hasChanges: boolean): Promise<LoadResult> => {
      const changes: Change[] = []
      const seconds = skippedSeconds + scaledSeconds(bench, load.seconds - skippedSeconds)
      const change = async (): Promise<void> => {
        const until = performance.now() + seconds * 1_000 - quietMs
        while (performance.now() < until) {
          const due = pause(changeEveryMs)
          changes.push(await changeProbe(operator.url, stage.receiver.url, ++changed))
          await due
        }
      }
      const plan = { ...load, seconds, ...(hasChanges && { duringLoad: change }) }
      const { passages, log, lost, duplicates } = await live(stage, installation, plan)
      const p99 = quantile(passages.slice(skippedSeconds * load.perSecond), 0.99)
      const inForceMs = msUntilInForce(changes, log, await installation.eventPartitions())
      return { p99, lost, duplicates, inForceMs }
    }
    const rounds: { readonly without: LoadResult; readonly beside: LoadResult }[] = []
    await run(true) // A warm-up, in which V8 compiles the code that applies changes.
    for (let round = 1; round <= bench.runs; round++) {
      // The speed of the machine changes over minutes, so the order of the loads alternates.
      const first = await run(round % 2 === 0)
      const second = await run(round % 2 === 1)
      const [without, beside] = round % 2 === 1 ? [first, second] : [second, first]
      rounds.push({ without, beside })
      say(
        `${transport}, round ${round}: p99 latency ${without.p99.toFixed(1)} ms, with changes ${beside.p99.toFixed(1)} ms; 99 % of the changes in force within ${percentile(beside.inForceMs, 0.99).toFixed(0)} ms`,
      )
    }
    return outcomeOf(subject, rounds)
  } finally {
    await operator.stop()
  }
}

function outcomeOf(
  subject: string,
  rounds: readonly { readonly without: LoadResult; readonly beside: LoadResult }[],
): Outcome {
  const inForceMs = rounds.flatMap(({ beside }) => beside.inForceMs)
  const loads = rounds.flatMap(({ without, beside }) => [without, beside])
  const [without, beside] = [rounds.map(each => each.without.p99), rounds.map(each => each.beside.p99)]
  const ratio = median(rounds.map(each => each.beside.p99 / each.without.p99))
  const seconds = (share: number): number => percentile(inForceMs, share) / 1_000
  return {
    findings: [
      { subject, what: 'time until a change is in force, p50', unit: 's', measured: seconds(0.5) },
      {
        subject,
        what: 'time until a change is in force, p99',
        unit: 's',
        measured: seconds(0.99),
        ...bounds.changeInForce,
      },
      { subject, what: 'p99 latency with changes', unit: 'ms', measured: median(beside) },
      {
        ...{ subject, what: 'p99 latency with changes, relative to no changes', measured: ratio },
        reference: { name: 'no changes', measured: median(without), unit: 'ms' },
        ...bounds.besideChanges,
      },
      { subject, what: 'lost', measured: Math.max(...loads.map(({ lost }) => lost)), ...bounds.lost },
      {
        ...{ subject, what: 'duplicated', measured: Math.max(...loads.map(({ duplicates }) => duplicates)) },
        ...bounds.duplicates,
      },
    ],
    figures: rounds.map((each, index) => ({
      round: index + 1,
      'p99 ms': each.without.p99,
      'p99 ms with changes': each.beside.p99,
      changes: each.beside.inForceMs.length,
      'in force ms, p50': percentile(each.beside.inForceMs, 0.5),
      'in force ms, p99': percentile(each.beside.inForceMs, 0.99),
      'in force ms, max': Math.max(...each.beside.inForceMs),
    })),
  }
}

/**
 * Changes the probe's URL to one that contains `number`. @throws when the operator API does not
 * accept the change
 */
async function changeProbe(operator: string, url: string, number: number): Promise<Change> {
  const ifMatch = number
  const { webhooks } = probeDocument(url, number)
  const line = `PATCH /v1/destinations/${probeId}`
  const { status, body } = await askObjects({ url: operator }, line, { webhooks }, { ifMatch })
  if (status !== 200) throw new Error(`the operator API answered a change with ${status}: ${JSON.stringify(body)}`)
  return { number, answeredAt: performance.timeOrigin + performance.now() }
}
