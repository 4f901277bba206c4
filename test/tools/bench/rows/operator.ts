import { setTimeout as pause } from 'node:timers/promises'
import { keyFile } from '../../../support/config-objects/example-objects.ts'
import { buildConsole } from '../../../support/console/built-console.ts'
import { operatorKey } from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../../support/operator/send-operator-api-request.ts'
import { bounds, type Finding } from '../bounds.ts'
import { loadPages } from '../console-page-loads.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import { destinationId, sourcesFor, writeDeadLetters, writeDestinationsOf } from '../destinations-and-dead-letters.ts'
import { type OperatorProcess, startOperator } from '../forwarders/operator-process.ts'
import { startReady } from '../forwarders/ready-process.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { jobQuestions, pagesOf, questionsOf } from '../kinds-of-operator-requests.ts'
import { meter } from '../latency-under-load.ts'
import { type Answer, answerFigures, answerFindings, ask, type Question } from '../operator-answer-times.ts'
import { peakMb, residentMb, together } from '../process-usage.ts'
import { profileOf } from '../profile-summary.ts'
import { shown } from '../report.ts'
import { percentile } from '../statistics.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const repetitions = 40
const fewest = 5
const pollMs = 250
/**
 * Measures the operator API and the console of one process with 10,000 destinations and a million
 * dead letters.
 */
export async function operatorRow(bench: Bench): Promise<Outcome> {
  const { stage, say } = bench
  const [destinations, deadLetters] = [scaled(bench, 10_000), scaled(bench, 1_000_000)]
  const count = Math.max(fewest, Math.round(repetitions * bench.scale))
  const sources = sourcesFor(destinations)
  await buildConsole()
  const installation = await createInstallation(stage, { sources, encryptionKey: keyFile('first'), operatorKey })
  const job = { stage, installation, inFlight: 1, profile: bench.profile }
  try {
    await writeDestinationsOf(installation, destinations, stage.receiver.url)
    say(`writing ${shown(deadLetters)} events and dead letters`)
    await deliverSome(bench, installation)
    await installation.fill(deadLetters - installation.appended())
    const written = await writeDeadLetters(installation, count)
    const process = await startOperator(job, cheapestOf(bench))
    const read = meter(process)
    try {
      say(`operator process ready after ${process.readyAfter.toFixed(2)} s`)
      const startMb = together(process.pids, residentMb)
      const contents = { destinations, sources, written }
      const first = await askAll(bench, process, questionsOf(contents), count)
      const replay = await countReplay(process.url)
      const answers = new Map([...first, ...(await askAll(bench, process, jobQuestions(replay), count))])
      const loads = await loadPages(process.url, pagesOf(contents, replay), count)
      const memory = { startMb, endMb: together(process.pids, residentMb), peakMb: together(process.pids, peakMb) }
      const { window } = read()
      // V8 writes the CPU profile when the process exits.
      await process.stop()
      return {
        ...outcomeOf({ readyAfter: process.readyAfter, answers, loads, memory }),
        profiles: await profileOf('operator', { profile: process.profile, window }),
      }
    } finally {
      await process.stop()
    }
  } finally {
    await installation.close()
  }
}

/**
 * Delivers one event of each source, so that each destination has results and Kafka has committed
 * offsets.
 */
async function deliverSome(bench: Bench, installation: Installation): Promise<void> {
  const { stage } = bench
  const job = { stage, installation, inFlight: 512 }
  const dispatcher = await startReady(job, cheapestOf(bench), 'dispatcher', { destinations: [] })
  try {
    const count = installation.sourceIds.length
    const script = { first: 0, count, delayMs: 0, passesOneIn: 0, isDead: false, marks: [count], keepsLog: false }
    await stage.receiver.begin(script)
    await installation.fill(count)
    await Promise.race([stage.receiver.reached(count), dispatcher.died])
  } finally {
    await dispatcher.stop()
  }
}

type Answers = ReadonlyMap<string, readonly Answer[]>

async function askAll(
  { say }: Bench,
  { url }: OperatorProcess,
  questions: readonly Question[],
  count: number,
): Promise<Answers> {
  const answers = new Map<string, readonly Answer[]>()
  for (const question of questions) {
    const found = await ask(url, question, count)
    answers.set(question.name, found)
    const partial = found.filter(({ isPartial }) => isPartial).length
    const ms = found.map(each => each.ms)
    say(`${question.name}: p95 ${percentile(ms, 0.95).toFixed(0)} ms, ${partial} of ${count} responses partial`)
  }
  return answers
}

/**
 * Counts the dead letters of one destination with a dry run. Resolves with the id of the ended
 * replay.
 */
async function countReplay(url: string): Promise<string> {
  const created = await askObjects({ url }, 'POST /v1/replays', {
    filters: { destination: destinationId(0) },
    dryRun: true,
  })
  const { id } = created.body as { readonly id: string }
  for (;;) {
    const { body } = await askObjects({ url }, `GET /v1/replays/${id}`)
    if (body.state === 'done') return id
    if (body.state === 'failed') throw new Error(`the replay failed: ${body.error}`)
    await pause(pollMs)
  }
}

interface Measured {
  readonly readyAfter: number
  readonly answers: Answers
  readonly loads: ReadonlyMap<string, readonly number[]>
  readonly memory: Readonly<Record<'startMb' | 'endMb' | 'peakMb', number>>
}

function outcomeOf({ readyAfter, answers, loads, memory }: Measured): Outcome {
  const slowest = Math.max(...[...loads.values()].map(times => percentile(times, 0.95)))
  const late = [...answers.values()].flat().filter(({ ms, isPartial }) => !isPartial && ms > lateMs).length
  const process: readonly Finding[] = [
    { subject: 'operator process', what: 'time from process start until ready', unit: 's', measured: readyAfter },
    { subject: 'operator process', what: 'memory after the start', unit: 'MB', measured: memory.startMb },
    { subject: 'operator process', what: 'memory at the end', unit: 'MB', measured: memory.endMb },
    { subject: 'operator process', what: 'peak memory', unit: 'MB', measured: memory.peakMb },
    {
      ...{ subject: 'all requests', what: 'complete responses that took more than 2 s', measured: late },
      ...bounds.lateAnswers,
    },
    {
      ...{ subject: 'all pages', what: 'p95 of the time to load the slowest page', unit: 'ms', measured: slowest },
      ...bounds.consolePage,
    },
  ]
  return {
    findings: [
      ...process,
      ...[...answers].flatMap(([name, found]) => answerFindings(`request: ${name}`, found)),
      ...[...loads].flatMap(([name, times]) => pageFindings(`page: ${name}`, times)),
    ],
    figures: [
      ...[...answers].map(([name, found]) => answerFigures(name, found)),
      ...[...loads].map(([name, times]) => ({
        page: name,
        'p50 ms': percentile(times, 0.5),
        'p95 ms': percentile(times, 0.95),
        'slowest ms': Math.max(...times),
      })),
    ],
  }
}

const lateMs = bounds.operatorAnswer.must.atMost

const pageFindings = (subject: string, times: readonly number[]): readonly Finding[] => [
  { subject, what: 'p50', unit: 'ms', measured: percentile(times, 0.5) },
  { subject, what: 'p95', unit: 'ms', measured: percentile(times, 0.95), ...bounds.consolePage },
]
