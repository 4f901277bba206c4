import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg, totalmem } from 'node:os'
import { pinSelf } from './cpu-pinning.ts'
import { transports } from './forwarders/hookline.ts'
import { peer } from './forwarders/peer.ts'
import { type Options, parseOptions, type RowName } from './options.ts'
import { commitOf, publish } from './publication/publish.ts'
import { type Circumstances, entriesOf } from './publication/published-entries.ts'
import { amountOf, bound, failuresOf, type NamedOutcome, reportOf } from './report.ts'
import { audiencesRow } from './rows/audiences-restore.ts'
import { backlogRow } from './rows/backlog-size.ts'
import { clientRow } from './rows/client.ts'
import { collectorRow } from './rows/collector.ts'
import { crashRow } from './rows/crash.ts'
import { deliveryRow } from './rows/delivery.ts'
import { destinationsRow } from './rows/destinations.ts'
import { outageRow } from './rows/endpoint-outage.ts'
import { httpsRow } from './rows/https.ts'
import { httpsLatencyRow } from './rows/https-latency.ts'
import { idleRow } from './rows/idle.ts'
import { isolationRow } from './rows/isolation.ts'
import { limitsRow } from './rows/limits.ts'
import { liveRow } from './rows/live.ts'
import { hundredThousandRow, tenThousandRow } from './rows/many-destinations.ts'
import { memoryRow } from './rows/memory.ts'
import { operatorRow } from './rows/operator.ts'
import { partitionsRow } from './rows/partitions.ts'
import { peersRow } from './rows/peers.ts'
import { processesRow } from './rows/processes.ts'
import { resendRow } from './rows/resend.ts'
import { retriesRow } from './rows/retries.ts'
import type { Bench, Row } from './rows/row.ts'
import { startRow } from './rows/start.ts'
import { openStage, type Stage } from './test-bed.ts'

/* The program of `make bench`: see docs/performance/README.md. */

const rows: Readonly<Record<RowName, Row>> = {
  delivery: deliveryRow,
  https: httpsRow,
  'https-latency': httpsLatencyRow,
  memory: memoryRow,
  live: liveRow,
  isolation: isolationRow,
  start: startRow,
  crash: crashRow,
  retries: retriesRow,
  outage: outageRow,
  idle: idleRow,
  client: clientRow,
  collector: collectorRow,
  audiences: audiencesRow,
  destinations: destinationsRow,
  'destinations-10000': tenThousandRow,
  'destinations-100000': hundredThousandRow,
  operator: operatorRow,
  resend: resendRow,
  limits: limitsRow,
  backlog: backlogRow,
  partitions: partitionsRow,
  processes: processesRow,
  peers: peersRow,
}

const root = new URL('../../../', import.meta.url).pathname
const lastRun = '.hookline/bench'
const busyAbove = 0.5
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1e9)} GB; Node ${process.versions.node}`

const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<boolean> {
  const options = parseOptions(process.env, transports())
  if (process.platform !== 'linux')
    throw new Error('make bench needs Linux, because it reads CPU time and memory from /proc')
  const [load = 0] = loadavg()
  const pinning = pinSelf()
  const stage = await openStage(pinning)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stage.close().finally(() => process.exit(130)))
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(root),
    machine: `${machine}; ${pinning.note}`,
    load: Number(load.toFixed(2)),
    runs: options.runs,
  }
  for (const [name, value] of Object.entries(shownCircumstances(circumstances))) say(`${name}: ${value}`)
  if (load > busyAbove)
    say(`the load average is above ${busyAbove}: other programs use the machine, so the figures are not precise`)
  await mkdir(`${root}${lastRun}`, { recursive: true })
  try {
    const outcomes = await measure(options, stage, circumstances)
    await keep(circumstances, outcomes)
    return conclude(options, outcomes)
  } finally {
    await stage.close()
  }
}

const shownCircumstances = ({ load, runs, ...others }: Circumstances): Readonly<Record<string, string | number>> => ({
  ...others,
  'load average': load,
  repetitions: runs,
})

async function measure(options: Options, stage: Stage, circumstances: Circumstances): Promise<readonly NamedOutcome[]> {
  const bench: Bench = { ...options, stage, peers: options.peers.map(peer), say: line => say(`  ${line}`) }
  const outcomes: NamedOutcome[] = []
  for (const name of options.rows) {
    say(`\nrow ${name}`)
    const startedAt = performance.now()
    const outcome = await outcomeOf(name, bench)
    outcomes.push(outcome)
    say(`  the row took ${Math.round((performance.now() - startedAt) / 1_000)} s`)
    if (outcome.broke !== undefined) {
      say(`\nan error ended the row ${name}: ${outcome.broke}`)
      continue
    }
    say(`\n${reportOf([outcome])}`)
    await showProfiles(outcome)
    // Publishes after each row, so that an error in a later row does not lose the results.
    if (options.publishes) await publish(root, entriesOf(outcome, circumstances), options.hasAllTransports)
  }
  return outcomes
}

async function outcomeOf(row: RowName, bench: Bench): Promise<NamedOutcome> {
  try {
    return { row, ...(await rows[row](bench)) }
  } catch (error) {
    return { row, figures: [], findings: [], broke: error instanceof Error ? error.message : String(error) }
  }
}

async function showProfiles({ row, profiles = [] }: NamedOutcome): Promise<void> {
  for (const { title, lines, file } of profiles) {
    const name = `${row}: ${title}`
    const kept = `${lastRun}/${name.toLowerCase().replaceAll(/[^a-z\d.]+/g, '-')}.cpuprofile`
    await copyFile(file, `${root}${kept}`)
    for (const line of ['', name, ...lines, `  profile: ${kept}`]) say(line)
  }
}

async function keep(circumstances: Circumstances, outcomes: readonly NamedOutcome[]): Promise<void> {
  const rows = outcomes.map(outcome => ({
    row: outcome.row,
    figures: outcome.figures,
    entries: entriesOf(outcome, circumstances),
  }))
  const head = [
    '# Results',
    ...Object.entries(shownCircumstances(circumstances)).map(([name, value]) => `- ${name}: ${value}`),
  ]
  await writeFile(`${root}${lastRun}/results.json`, `${JSON.stringify({ ...circumstances, rows }, null, 2)}\n`)
  await writeFile(`${root}${lastRun}/results.md`, `${head.join('\n')}\n\n${reportOf(outcomes)}\n`)
  say(`\nwrote ${lastRun}/results.json and ${lastRun}/results.md`)
}

function conclude({ gates, profile }: Options, outcomes: readonly NamedOutcome[]): boolean {
  const failures = failuresOf(outcomes)
  for (const failure of failures)
    say(`FAILS: ${failure.subject}: ${failure.what} is ${amountOf(failure)}, must be ${bound(failure.must)}`)
  const broken = outcomes.filter(({ broke }) => broke !== undefined)
  for (const { row, broke } of broken) say(`row ${row} has no results, because an error ended it: ${broke}`)
  if (broken.length > 0) return false
  if (failures.length === 0) say('every figure meets its must, the bound that it must meet')
  else if (!gates)
    say(
      profile
        ? 'exit code 0 although figures miss their must: PROFILE=1 slows the programs down, so their figures are not judged'
        : 'exit code 0 although figures miss their must, because of GATES=off',
    )
  return !gates || failures.length === 0
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
