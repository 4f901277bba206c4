import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOrStartRegistry } from '../../../deploy/tools/local/kafka-and-registry.ts'
import { runAudienceScenario } from './audience-run.ts'
import { runChangesScenario } from './changes-run.ts'
import { BadRequest, type Request, requested, soakMinutes } from './environment-variables.ts'
import { runJobsScenario } from './jobs-run.ts'
import { type PublishedRow, publish, published } from './publication.ts'
import { table } from './report.ts'
import { circumstances } from './run-circumstances.ts'
import { type Row, type RunOptions, runScenario } from './scenario-run.ts'
import { type AnyScenario, scenarios } from './scenarios.ts'
import { runSoak } from './soak-run.ts'

const repository = join(import.meta.dirname, '../../..')

function run(scenario: AnyScenario, minutes: number, options: RunOptions): Promise<Row> {
  if ('lists' in scenario) return runAudienceScenario(scenario, options)
  if ('jobs' in scenario) return runJobsScenario(scenario, options)
  if ('changes' in scenario) return runChangesScenario(scenario, options)
  return 'soak' in scenario ? runSoak(scenario, minutes, options) : runScenario(scenario, options)
}

class Interrupted extends Error {}

/**
 * Runs the scenarios one after another. A scenario that cannot run is reported, and the next
 * starts.
 */
async function runAll(request: Request, signal: AbortSignal) {
  const { seed, patience, selection, minutes } = request
  const rows: PublishedRow[] = []
  const broken: string[] = []
  for (const scenario of selection) {
    const { name, shows } = scenario
    const say = (line: string): void => void process.stderr.write(`${name}: ${line}\n`)
    say(`${shows}; SEED=${seed}`)
    try {
      const under = await circumstances(repository, patience)
      const row = await run(scenario, minutes ?? soakMinutes, { seed, patience, say, signal })
      rows.push(published(row, under))
      await save(request, rows)
      for (const line of table([row])) say(line)
    } catch (error) {
      signal.throwIfAborted()
      broken.push(`FAILS  ${name} could not run: ${(error as Error).message}`)
      say(`could not run: ${(error as Error).message}`)
    }
  }
  return { rows, broken }
}

/** Runs after each scenario, so that an interruption loses no row. */
async function save({ file, isPublic }: Request, rows: readonly PublishedRow[]): Promise<void> {
  if (file !== '') await writeFile(file, `${JSON.stringify(rows, null, 2)}\n`)
  if (isPublic) await publish(repository, rows, scenarios)
}

/** Aborts on ctrl-C and SIGTERM, so that brokers, processes and files are removed. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(new Interrupted(name)))
  return controller.signal
}

/** Resolves with the exit code: 1 when a scenario fails or cannot run, otherwise 0. */
async function main(request: Request): Promise<number> {
  const { seed, minutes } = request
  const registry = await findOrStartRegistry()
  process.env['SCHEMA_REGISTRY_URL'] = registry.url
  const { rows, broken } = await runAll(request, interrupted()).finally(() => registry.stop())
  const failing = rows.filter(({ failures }) => failures.length > 0)
  const length = minutes === undefined ? '' : ` MINUTES=${minutes}`
  const again = failing.map(({ name }) => `repeat this scenario with: make chaos SEED=${seed} ONLY=${name}${length}`)
  process.stdout.write(`${[...table(rows), ...broken, ...again].join('\n')}\n`)
  return failing.length + broken.length > 0 ? 1 : 0
}

try {
  process.exitCode = await main(requested())
} catch (error) {
  if (!(error instanceof BadRequest || error instanceof Interrupted)) throw error
  process.stderr.write(`${error.message}\n`)
  // The load may still wait for a stopped broker, so exit explicitly.
  process.exit(error instanceof Interrupted ? 130 : 2)
}
