import type { RecordedAttempts } from '../../../../src/core/settings/recorded-attempts.ts'
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
 * of the attempts is subtracted. Also measures the CPU time of the two records that a failed
 * attempt and the later success write to the attempts topic. Runs with and without failures, and
 * with and without these records, alternate, so that they can be compared.
 */
export async function retriesRow(bench: Bench): Promise<Outcome> {
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  for (const transport of bench.transports) {
    const runs: Figures[] = []
    for (let run = 1; run <= bench.runs; run++) {
      const { bare, plain, failing, recorded, parkedBytes, eventBytes } = await runOf(
        bench,
        transport,
        countsOf(bench, transport),
      )
      const { attempt, parkAndRelease, attemptRecords } = costsOf({ plain, failing, recorded })
      const bareDelivery = 1e6 / bare.perCpuSecond
      runs.push({
        transport,
        run,
        parked: failing.refused,
        'bare delivery µs': bareDelivery,
        'attempt µs': attempt,
        'park and release µs': parkAndRelease,
        'of a bare delivery': parkAndRelease / bareDelivery,
        'attempt records µs': attemptRecords,
        'attempt records, of a bare delivery': attemptRecords / bareDelivery,
        'bytes a parked record': parkedBytes,
        'bytes an event': eventBytes,
        lost: Math.max(failing.lost, recorded.lost),
        duplicates: Math.max(failing.duplicates, recorded.duplicates),
      })
      bench.say(
        `hookline ${transport}: CPU per attempt ${attempt.toFixed(0)} µs, per retry ${parkAndRelease.toFixed(0)} µs, for two records in the attempts topic ${attemptRecords.toFixed(0)} µs`,
      )
      profiles.push(
        ...(await profileOf(`hookline ${transport}, none retried`, plain)),
        ...(await profileOf(`hookline ${transport}`, failing)),
        ...(await profileOf(`hookline ${transport}, attempts recorded`, recorded)),
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
        ...{ subject, what: 'attempt records', unit: 'µs', measured: median(all('attempt records µs')) },
      },
      {
        ...{ subject, what: 'attempt records, of a bare delivery' },
        measured: median(all('attempt records, of a bare delivery')),
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
  const hookline = Math.max(fewest, scaled(bench, transport === 'got' ? 60_000 : 240_000))
  return { bare: hookline * (transport === 'got' ? 4 : 1), hookline }
}

interface Runs {
  readonly bare: Drain
  readonly plain: Drain
  /** The run with failures and without records in the attempts topic. */
  readonly failing: Drain
  /** The run with failures and with records in the attempts topic, as by default. */
  readonly recorded: Drain
  /** Average size of a retry record in bytes. */
  readonly parkedBytes: number
  readonly eventBytes: number
}

/**
 * Runs four forwarders in turns, each with its own topics: the reference loop, Hookline without
 * failures, and Hookline with failures, without and with records of the attempts.
 */
async function runOf({ stage, profile }: Bench, transport: string, counts: Counts): Promise<Runs> {
  const contender = async (
    forwarder: Forwarder,
    plan: Pick<DrainPlan, 'count' | 'passesOneIn'>,
    attemptsTopic: RecordedAttempts = 'off',
  ): Promise<Contender> => {
    const installation = await createInstallation(stage, { schedule, attemptsTopic })
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
    recorded: await contender(hookline, { count: counts.hookline, passesOneIn }, 'failures'),
  }
  const drains = await drainInTurns(stage, contenders)
  const { topics, recordBytes } = contenders.failing.job.installation
  const parkedBytes = await recordBytes(topics.retry(parkedFor))
  const eventBytes = await recordBytes(topics.events)
  for (const { job } of Object.values(contenders)) await job.installation.close()
  return { ...drains, parkedBytes, eventBytes }
}

/**
 * Computes the CPU time of one attempt, of scheduling a retry and reading it again, and of the
 * records of one retried delivery in the attempts topic. All are in microseconds. A negative cost
 * becomes `NaN`, because it means that the runs cannot be compared.
 */
export function costsOf({
  plain,
  failing,
  recorded,
}: {
  readonly plain: Pick<Drain, 'perCpuSecond' | 'cpuToTheEnd'>
  readonly failing: Pick<Drain, 'cpuToTheEnd' | 'refused'>
  readonly recorded: Pick<Drain, 'cpuToTheEnd' | 'refused'>
}): { readonly attempt: number; readonly parkAndRelease: number; readonly attemptRecords: number } {
  const attempt = 1e6 / plain.perCpuSecond
  const extra = ({ cpuToTheEnd, refused }: typeof failing): number =>
    ((cpuToTheEnd - plain.cpuToTheEnd) * 1e6) / refused
  // Each failed event needs one more attempt. So the cost of an attempt is subtracted from the
  // additional cost of a failed event.
  return {
    attempt,
    parkAndRelease: positive(extra(failing) - attempt),
    attemptRecords: positive(extra(recorded) - extra(failing)),
  }
}

const positive = (cost: number): number => (cost > 0 ? cost : Number.NaN)
