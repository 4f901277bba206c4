import type { RecordedAttempts } from '../../../../src/core/settings/schema-of-attempts-topic.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { bounds, type Finding } from '../bounds.ts'
import { type Contender, drainInTurns } from '../drain-in-turns.ts'
import type { Drain, DrainPlan } from '../drain-topic.ts'
import type { FigureName } from '../figure-names.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { createInstallation } from '../installation-topics.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { median } from '../statistics.ts'
import { variantOf } from '../variant-names.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

const delayMs = 20
const inFlight = 512
/**
 * One of three events succeeds at its first request. At 70 % failures, the circuit breaker would
 * open.
 */
const passesOneIn = 3
/** With fewer events, the CPU time would mainly be V8's compilation of the code. */
const fewest = 20_000
/**
 * The wait before a retry. It is short, so that the process writes and reads retries concurrently
 * for most of the run.
 */
const retryDelay = durationMs(1_000)
const schedule = ['1s', '5s']

export interface RetriesPlan {
  /** Number of events of each Hookline process. Default: enough for CPU times that can be compared. */
  readonly count?: number
}

/**
 * Measures two CPU times of a failed delivery, without its attempts: to pass through a retry topic,
 * and to record the attempts.
 */
export async function retriesRow(bench: Bench, plan: RetriesPlan = {}): Promise<Outcome> {
  const figures: Figures[] = []
  const findings: Finding[] = []
  const profiles: Profiled[] = []
  for (const transport of bench.transports) {
    const runs: Columns[] = []
    for (let run = 1; run <= bench.runs; run++) {
      const result = await runOf(bench, transport, countsOf(bench, transport, plan))
      const columns = columnsOf(result)
      const micros = (column: keyof Columns): string => `${columns[column].toFixed(0)} µs`
      runs.push(columns)
      figures.push({ transport, run, ...columns })
      bench.say(
        `hookline ${transport}: CPU per attempt ${micros('µs CPU per attempt')}, per retry ${micros('µs CPU of a retry')}, for two records in the attempts topic ${micros('µs CPU of two records in the attempts topic')}`,
      )
      profiles.push(
        ...(await profileOf(`hookline ${transport}, none retried`, result.plain)),
        ...(await profileOf(`hookline ${transport}`, result.failing)),
        ...(await profileOf(`hookline ${transport}, attempts recorded`, result.recorded)),
      )
    }
    findings.push(...findingsOf(variantOf.retries(`hookline ${transport}`), runs))
  }
  return { findings, figures, profiles }
}

type Columns = ReturnType<typeof columnsOf>

function columnsOf({ reference, plain, failing, recorded, retryBytes, eventBytes }: Runs) {
  const { attempt, retry, attemptRecords } = costsOf({ plain, failing, recorded })
  const referenceDelivery = 1e6 / reference.perCpuSecond
  return {
    'failed first attempts': failing.refused,
    'µs CPU per delivery of the reference loop': referenceDelivery,
    'µs CPU per attempt': attempt,
    'µs CPU of a retry': retry,
    'CPU of a retry, relative to a delivery of the reference loop': retry / referenceDelivery,
    'µs CPU of two records in the attempts topic': attemptRecords,
    'these records, relative to a delivery of the reference loop': attemptRecords / referenceDelivery,
    'bytes per record in the retry topic': retryBytes,
    'bytes per event': eventBytes,
    lost: Math.max(failing.lost, recorded.lost),
    duplicates: Math.max(failing.duplicates, recorded.duplicates),
  }
}

function findingsOf(subject: string, runs: readonly Columns[]): readonly Finding[] {
  const all = (column: keyof Columns): readonly number[] => runs.map(run => run[column])
  const finding = (what: FigureName, column: keyof Columns): Finding => ({
    subject,
    what,
    measured: median(all(column)),
  })
  const compared = (name: string, column: keyof Columns, unit: string) => ({
    unit,
    reference: { name, measured: median(all(column)), unit },
  })
  return [
    { ...finding('CPU per attempt', 'µs CPU per attempt'), unit: 'µs' },
    {
      ...finding('CPU of a retry', 'µs CPU of a retry'),
      ...compared('a delivery of the reference loop with undici', 'µs CPU per delivery of the reference loop', 'µs'),
    },
    {
      ...finding(
        'CPU of a retry, relative to a delivery of the reference loop',
        'CPU of a retry, relative to a delivery of the reference loop',
      ),
      ...bounds.retryCost,
    },
    {
      ...finding('CPU of two records in the attempts topic', 'µs CPU of two records in the attempts topic'),
      unit: 'µs',
    },
    finding(
      'CPU of two records in the attempts topic, relative to a delivery of the reference loop',
      'these records, relative to a delivery of the reference loop',
    ),
    {
      ...finding('size of the record in the retry topic', 'bytes per record in the retry topic'),
      ...compared('the event', 'bytes per event', 'bytes'),
    },
    { subject, what: 'lost', measured: Math.max(...all('lost')), ...bounds.lost },
    { subject, what: 'duplicated', measured: Math.max(...all('duplicates')), ...bounds.duplicates },
  ]
}

interface Counts {
  readonly reference: number
  readonly hookline: number
}

/**
 * Returns the number of events of each program. The reference loop (a minimal forwarder) gets the
 * number with which it takes about as long as Hookline.
 */
function countsOf(bench: Bench, transport: string, { count }: RetriesPlan): Counts {
  const hookline = count ?? Math.max(fewest, scaled(bench, transport === 'got' ? 60_000 : 240_000))
  return { reference: hookline * (transport === 'got' ? 4 : 1), hookline }
}

interface Runs {
  readonly reference: Drain
  readonly plain: Drain
  /** With failures, without records in the attempts topic. */
  readonly failing: Drain
  /** With failures, and with records in the attempts topic, as by default. */
  readonly recorded: Drain
  readonly retryBytes: number
  readonly eventBytes: number
}

/** Runs four forwarders in turns, each with its own topics. */
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
    reference: await contender(referenceLoop('undici'), { count: counts.reference }),
    plain: await contender(hookline, { count: counts.hookline }),
    failing: await contender(hookline, { count: counts.hookline, passesOneIn }),
    recorded: await contender(hookline, { count: counts.hookline, passesOneIn }, 'failures'),
  }
  const drains = await drainInTurns(stage, contenders)
  const { topics, recordBytes } = contenders.failing.job.installation
  const retryBytes = await recordBytes(topics.retry(retryDelay))
  const eventBytes = await recordBytes(topics.events)
  for (const { job } of Object.values(contenders)) await job.installation.close()
  return { ...drains, retryBytes, eventBytes }
}

/**
 * Computes CPU times in µs. `NaN` means that the runs cannot be compared.
 * - `attempt`: one attempt.
 * - `retry`: one pass through a retry topic.
 * - `attemptRecords`: the records of a retried delivery in the attempts topic.
 */
export function costsOf({
  plain,
  failing,
  recorded,
}: {
  readonly plain: Pick<Drain, 'perCpuSecond' | 'cpuToTheEnd'>
  readonly failing: Pick<Drain, 'cpuToTheEnd' | 'refused'>
  readonly recorded: Pick<Drain, 'cpuToTheEnd' | 'refused'>
}): { readonly attempt: number; readonly retry: number; readonly attemptRecords: number } {
  const attempt = 1e6 / plain.perCpuSecond
  const extra = ({ cpuToTheEnd, refused }: typeof failing): number =>
    ((cpuToTheEnd - plain.cpuToTheEnd) * 1e6) / refused
  // A failed event also costs one more attempt, which `retry` excludes.
  return {
    attempt,
    retry: positive(extra(failing) - attempt),
    attemptRecords: positive(extra(recorded) - extra(failing)),
  }
}

const positive = (cost: number): number => (cost > 0 ? cost : Number.NaN)
