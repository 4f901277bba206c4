import { durationMs } from '../../../../src/core/units.ts'
import { bars, type Finding } from '../bars.ts'
import type { Drain, DrainPlan } from '../drain.ts'
import { bareLoop } from '../forwarders/bare-loop.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation.ts'
import { type Profiled, profileOf } from '../profile.ts'
import { median } from '../statistics.ts'
import { type Contender, drainInTurns } from '../turns.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512
/**
 * Of the second half of the events two of three fail the first time: of what is measured, the more is parking and the less are attempts, the
 * better. The breaker opens when seven of ten do.
 */
const passesOneIn = 3
/** Without these, what is measured is how the code was compiled. */
const fewest = 20_000
/** Shorter than the run, so that parking and releasing go on side by side. */
const parkedFor = durationMs(1_000)
const schedule = ['1s', '5s']

/**
 * What it costs to park a failed delivery in a retry topic and to take it up again, without the two attempts: events are delivered without
 * failures and with them, side by side.
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
        `hookline ${transport}: attempt ${attempt.toFixed(0)} µs, park and release ${parkAndRelease.toFixed(0)} µs`,
      )
      profiles.push(
        ...(await profileOf(`hookline ${transport}, none parked`, plain)),
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
        ...bars.parkAndRelease,
      },
      {
        ...{ subject, what: 'parked record', unit: 'bytes', measured: median(all('bytes a parked record')) },
        reference: { name: 'the event', measured: median(all('bytes an event')), unit: 'bytes' },
      },
      { subject, what: 'lost', measured: Math.max(...all('lost')), ...bars.lost },
      { subject, what: 'delivered twice', measured: Math.max(...all('duplicates')), ...bars.duplicates },
    )
  }
  return { findings, figures, profiles }
}

/** Events of each. */
interface Counts {
  readonly bare: number
  readonly hookline: number
}

/** So many that what V8 compiles for parking is little of what a parked delivery costs; the bare loop's take it about as long. */
function countsOf(bench: Bench, transport: string): Counts {
  const hookline = Math.max(fewest, scaled(bench, transport === 'got' ? 160_000 : 600_000))
  return { bare: hookline * (transport === 'got' ? 4 : 1), hookline }
}

interface Runs {
  readonly bare: Drain
  readonly plain: Drain
  readonly failing: Drain
  /** Of a record, on average. */
  readonly parkedBytes: number
  readonly eventBytes: number
}

/** Side by side, each with topics of its own. */
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
    bare: await contender(bareLoop('undici'), { count: counts.bare }),
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

/** Microseconds of CPU. */
export function costsOf(
  plain: Pick<Drain, 'perCpuSecond' | 'cpuToTheEnd'>,
  failing: Pick<Drain, 'cpuToTheEnd' | 'refused'>,
): { readonly attempt: number; readonly parkAndRelease: number } {
  const attempt = 1e6 / plain.perCpuSecond
  // Each that failed has had one attempt more.
  const parkAndRelease = ((failing.cpuToTheEnd - plain.cpuToTheEnd) * 1e6) / failing.refused - attempt
  // Nothing is done for less than nothing: then the two runs were not alike.
  return { attempt, parkAndRelease: parkAndRelease > 0 ? parkAndRelease : Number.NaN }
}
