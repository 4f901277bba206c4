import { durationMs } from '../../../../src/core/time.ts'
import { bounds, type Finding } from '../bounds.ts'
import { type Contender, drainInTurns } from '../drain-in-turns.ts'
import type { Drain, DrainPlan } from '../drain-topic.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { createInstallation } from '../installation.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { median } from '../statistics.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512
/**
 * In the second half of the events, two of three fail at their first request. With more failures,
 * scheduling retries would be a larger part of the measurement. But the circuit breaker opens at
 * seven failures of ten requests.
 */
const passesOneIn = 3
/**
 * Minimum number of events. With fewer events, the CPU time would mainly be V8's compilation of the
 * code.
 */
const fewest = 20_000
/**
 * Time that a retry waits in its topic. It is shorter than the run. So in most of the run, the
 * process writes retries and reads earlier ones concurrently.
 */
const parkedFor = durationMs(1_000)
const schedule = ['1s', '5s']

/**
 * Measures the CPU time to write a failed delivery to a retry topic and read it again. The CPU time
 * of the attempts is subtracted. Runs with and without failures alternate, so that they can be
 * compared.
 */
export async function retriesRow(bench: Bench): Promise<Outcome> {
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  for (const transport of bench.transports) {
    const runs: Figures[] = []
    for (let run = 1; run <= bench.runs; run++) {
      const { bare, plain, failing, parkedBytes, eventBytes } = await runOf(
        bench,
        transport,
        countsOf(bench, transport),
      )
      const { attempt, parkAndRelease } = costsOf(plain, failing)
      const bareDelivery = 1e6 / bare.perCpuSecond
      const { refused, lost, duplicates } = failing
      runs.push({
        transport,
        run,
        parked: refused,
        'bare delivery µs': bareDelivery,
        'attempt µs': attempt,
        'park and release µs': parkAndRelease,
        'of a bare delivery': parkAndRelease / bareDelivery,
        'bytes a parked record': parkedBytes,
        'bytes an event': eventBytes,
        lost,
        duplicates,
      })
      bench.say(
        `hookline ${transport}: attempt ${attempt.toFixed(0)} µs, scheduling and reading a retry ${parkAndRelease.toFixed(0)} µs`,
      )
      profiles.push(
        ...(await profileOf(`hookline ${transport}, none retried`, plain)),
        ...(await profileOf(`hookline ${transport}`, failing)),
      )
    }
    const all = (what: string): readonly number[] => runs.map(run => Number(run[what]))
    const subject = `hookline ${transport}, 1 of 3 parked`
    figures.push(...runs)
    findings.push(
      { subject, what: 'attempt', unit: 'µs', measured: median(all('attempt µs')) },
      {
        ...{ subject, what: 'park and release', unit: 'µs', measured: median(all('park and release µs')) },
        reference: { name: 'bare undici, a delivery', measured: median(all('bare delivery µs')), unit: 'µs' },
      },
      {
        ...{ subject, what: 'park and release, of a bare delivery', measured: median(all('of a bare delivery')) },
        ...bounds.parkAndRelease,
      },
      {
        ...{ subject, what: 'parked record', unit: 'bytes', measured: median(all('bytes a parked record')) },
        reference: { name: 'the event', measured: median(all('bytes an event')), unit: 'bytes' },
      },
      { subject, what: 'lost', measured: Math.max(...all('lost')), ...bounds.lost },
      { subject, what: 'delivered twice', measured: Math.max(...all('duplicates')), ...bounds.duplicates },
    )
  }
  return { findings, figures, profiles }
}

/** Numbers of events for the reference loop and for Hookline. */
interface Counts {
  readonly bare: number
  readonly hookline: number
}

/**
 * Returns numbers of events so large that V8's compilation is a small part of the cost. The
 * reference loop gets the number with which it takes about as long as Hookline.
 */
function countsOf(bench: Bench, transport: string): Counts {
  const hookline = Math.max(fewest, scaled(bench, transport === 'got' ? 160_000 : 600_000))
  return { bare: hookline * (transport === 'got' ? 4 : 1), hookline }
}

interface Runs {
  readonly bare: Drain
  readonly plain: Drain
  readonly failing: Drain
  /** Average size of a retry record in bytes. */
  readonly parkedBytes: number
  readonly eventBytes: number
}

/**
 * Runs three forwarders in turns, each with its own topics: the reference loop, Hookline without
 * failures, and Hookline with failures.
 */
async function runOf({ stage, profile }: Bench, transport: string, counts: Counts): Promise<Runs> {
  const contender = async (
    forwarder: Forwarder,
    plan: Pick<DrainPlan, 'count' | 'passesOneIn'>,
  ): Promise<Contender> => {
    const installation = await createInstallation(stage, { schedule })
    await installation.fill(plan.count)
    return {
      forwarder,
      job: { installation, inFlight, profile },
      plan: { ...plan, delayMs, measured: { from: Math.ceil(plan.count / 2) } },
    }
  }
  const hookline = hooklineForwarder(transport)
  const contenders = {
    bare: await contender(referenceLoop('undici'), { count: counts.bare }),
    plain: await contender(hookline, { count: counts.hookline }),
    failing: await contender(hookline, { count: counts.hookline, passesOneIn }),
  }
  const drains = await drainInTurns(stage, contenders)
  const { topics, recordBytes } = contenders.failing.job.installation
  const parkedBytes = await recordBytes(topics.retry(parkedFor))
  const eventBytes = await recordBytes(topics.events)
  for (const { job } of Object.values(contenders)) await job.installation.close()
  return { ...drains, parkedBytes, eventBytes }
}

/**
 * Computes the CPU time of one attempt, and the CPU time to schedule a retry and read it again,
 * both in microseconds.
 */
export function costsOf(
  plain: Pick<Drain, 'perCpuSecond' | 'cpuToTheEnd'>,
  failing: Pick<Drain, 'cpuToTheEnd' | 'refused'>,
): { readonly attempt: number; readonly parkAndRelease: number } {
  const attempt = 1e6 / plain.perCpuSecond
  // Each failed event needs one more attempt.
  const parkAndRelease = ((failing.cpuToTheEnd - plain.cpuToTheEnd) * 1e6) / failing.refused - attempt
  // A negative value means that the two runs cannot be compared.
  return { attempt, parkAndRelease: parkAndRelease > 0 ? parkAndRelease : Number.NaN }
}
