import { randomInt } from 'node:crypto'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { findOrStartRegistry } from '../../deploy/local/infrastructure.ts'
import { publish, table } from './report.ts'
import { type Row, runScenario } from './run.ts'
import { scenarios } from './scenarios.ts'

const reliability = join(import.meta.dirname, '../../docs/reliability')

/** A positive number out of the environment. @throws when it is something else */
function positive(name: string, otherwise: number): number {
  const text = process.env[name] ?? ''
  if (text === '') return otherwise
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} is ${text}; it has to be a number above 0`)
  return value
}

/** The scenarios that ONLY names, separated by commas; all without it. @throws for a name that there is not */
function chosen(only = process.env['ONLY'] ?? '') {
  if (only === '') return scenarios
  return only.split(',').map(name => {
    const scenario = scenarios.find(each => each.name === name)
    if (scenario === undefined)
      throw new Error(`ONLY names ${name}; there are ${scenarios.map(each => each.name).join(', ')}`)
    return scenario
  })
}

/** Runs the chosen scenarios one after another and prints the table. Resolves with the exit code: 1 when one fails. */
async function main(): Promise<number> {
  const seed = positive('SEED', randomInt(1, 1_000_000))
  const patience = positive('PATIENCE', 1)
  const selection = chosen()
  const startedAt = new Date().toISOString()
  const registry = await findOrStartRegistry()
  process.env['SCHEMA_REGISTRY_URL'] = registry.url
  const rows: Row[] = []
  const broken: string[] = []
  try {
    for (const scenario of selection) {
      const { name } = scenario
      const say = (line: string): void => void process.stderr.write(`${name}: ${line}\n`)
      say(`${scenario.shows}; SEED=${seed}`)
      try {
        rows.push(await runScenario(scenario, { seed, patience, say }))
      } catch (error) {
        broken.push(`${name} could not be run: ${(error as Error).message}`)
        say(broken.at(-1)!)
      }
    }
  } finally {
    await registry.stop()
  }
  process.stdout.write(`${[...table(rows), ...broken].join('\n')}\n`)
  const hasFailed = broken.length > 0 || rows.some(({ failures }) => failures.length > 0)
  for (const { name } of rows.filter(({ failures }) => failures.length > 0))
    process.stdout.write(`again: make chaos SEED=${seed} ONLY=${name}\n`)
  // A part of the table, or one with holes, must not pass for the whole.
  if (selection === scenarios && broken.length === 0) {
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`
    await publish(reliability, { seed, patience, startedAt, node: `Node ${process.version}`, cpus: machine }, rows)
  } else if (process.env['JSON'] === '1') {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  }
  return hasFailed ? 1 : 0
}

process.exitCode = await main()
