import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Entry } from '../../../test/tools/bench/publication/published-entries.ts'
import { commandHelp, type LoadOption, loadOptions, readLoad } from './arguments.ts'
import { coefficientsFrom } from './coefficients.ts'
import { planFor } from './model.ts'
import { plansTable } from './tables.ts'

/* The command `npm run capacity`; see docs/explanation/capacity.md. */

const results = new URL('../../../docs/performance/results.json', import.meta.url)

async function main(): Promise<void> {
  const options = Object.fromEntries(
    Object.keys(loadOptions).map(name => [name, { type: 'string' as const }]),
  ) as Record<LoadOption, { type: 'string' }>
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } } })
  if (values.help) return void process.stdout.write(`${commandHelp()}\n`)
  const { load, choices, transport } = readLoad(values)
  const { entries } = JSON.parse(await readFile(results, 'utf8')) as { readonly entries: readonly Entry[] }
  const plan = planFor(load, coefficientsFrom(entries, transport), choices)
  process.stdout.write(`${plansTable([{ title: transport, load, plan }])}\n`)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`capacity: ${(error as Error).message}\n`)
  process.exitCode = 2
}
