import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { dirname, relative } from 'node:path'
import { verdictOf } from './bars.ts'
import { transports } from './forwarders/hookline.ts'
import { peer } from './forwarders/peer.ts'
import { type Options, parseOptions, type RowName } from './options.ts'
import { pinSelf } from './pinning.ts'
import { failuresOf, type NamedOutcome, reportOf } from './report.ts'
import { audiencesRow } from './rows/audiences.ts'
import { clientRow } from './rows/client.ts'
import { collectorRow } from './rows/collector.ts'
import { crashRow } from './rows/crash.ts'
import { deliveryRow } from './rows/delivery.ts'
import { idleRow } from './rows/idle.ts'
import { isolationRow } from './rows/isolation.ts'
import { liveRow } from './rows/live.ts'
import { memoryRow } from './rows/memory.ts'
import { retriesRow } from './rows/retries.ts'
import type { Bench, Row } from './rows/row.ts'
import { startRow } from './rows/start.ts'
import { openStage, type Stage } from './stage.ts'

/* `make bench`: docs/performance/README.md says what is measured and how to read it. */

const rows: Readonly<Record<RowName, Row>> = {
  delivery: deliveryRow,
  memory: memoryRow,
  live: liveRow,
  isolation: isolationRow,
  start: startRow,
  crash: crashRow,
  retries: retriesRow,
  idle: idleRow,
  client: clientRow,
  collector: collectorRow,
  audiences: audiencesRow,
}

const root = new URL('../../', import.meta.url).pathname
/** Only a full run is published; what else was measured last lies where nothing is kept. */
const resultsOf = (isFull: boolean): string => `${root}${isFull ? 'docs/performance' : '.hookline/bench'}/results.json`
const busyAbove = 0.5

const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<boolean> {
  const options = parseOptions(process.env, transports())
  if (process.platform !== 'linux')
    throw new Error('the benchmark reads CPU time and memory from /proc: it needs Linux')
  const [load = 0] = loadavg()
  const pinning = pinSelf()
  const stage = await openStage(pinning)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stage.close().finally(() => process.exit(130)))
  const machine = {
    cores: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    node: process.versions.node,
    pinning: pinning.note,
    load: `${load.toFixed(2)} at the start${load > busyAbove ? ': somebody else is at work here, take the figures with care' : ''}`,
  }
  for (const [what, value] of Object.entries(machine)) say(`${what}: ${value}`)
  try {
    const outcomes = await measure(options, stage)
    await publish(options, machine, outcomes)
    return conclude(options, outcomes)
  } finally {
    await stage.close()
  }
}

async function measure(options: Options, stage: Stage): Promise<readonly NamedOutcome[]> {
  const bench: Bench = { ...options, stage, peers: options.peers.map(peer), say: line => say(`  ${line}`) }
  const outcomes: NamedOutcome[] = []
  for (const name of options.rows) {
    say(`\n${name}`)
    const outcome = { row: name, ...(await rows[name](bench)) }
    outcomes.push(outcome)
    say(`\n${reportOf([outcome])}`)
    for (const line of outcome.profiles ?? []) say(line)
  }
  return outcomes
}

async function publish(options: Options, machine: object, outcomes: readonly NamedOutcome[]): Promise<void> {
  const json = resultsOf(options.isFull)
  const { runs, scale, transports: measured } = options
  const judged = outcomes.map(({ row, figures, findings }) => ({
    row,
    figures,
    findings: findings.map(finding => ({ ...finding, verdict: verdictOf(finding) })),
  }))
  const at = new Date().toISOString()
  await mkdir(dirname(json), { recursive: true })
  await writeFile(
    json,
    `${JSON.stringify({ at, machine, runs, scale, transports: measured, rows: judged }, null, 2)}\n`,
  )
  const head = ['# Results', ...Object.entries({ at, ...machine }).map(([what, value]) => `- ${what}: ${value}`)]
  await writeFile(json.replace(/json$/, 'md'), `${head.join('\n')}\n\n${reportOf(outcomes)}\n`)
  say(`\nwritten: ${relative(process.cwd(), json)} and the same as .md`)
}

function conclude({ gates, profile }: Options, outcomes: readonly NamedOutcome[]): boolean {
  const failures = failuresOf(outcomes)
  for (const { subject, what } of failures) say(`must not hold: ${subject}: ${what}`)
  if (failures.length === 0) say('every must holds')
  else if (!gates) say(profile ? 'a profiled run is not judged' : 'GATES=off: not judged')
  return !gates || failures.length === 0
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
