import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { circumstances } from '../chaos/run-circumstances.ts'
import { type Cleanup, type Cluster, startCluster, stopCluster } from './cluster.ts'
import { install } from './install-from-page.ts'
import { openInstallation } from './installation.ts'
import { type PublishedRow, publish, summary } from './publication.ts'
import { lackingForCluster } from './requirements.ts'
import { type Row, runScenario, type Scenario } from './run-scenario.ts'
import { scenarios } from './scenarios.ts'
import { repository } from './shell.ts'

/* The program of `make test-cluster`. docs/reliability/README.md explains what it does. */

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Returns the scenarios in `ONLY`, or all if it is not set. @throws for an unknown scenario */
function chosen(only = process.env['ONLY'] ?? ''): readonly Scenario[] {
  if (only === '') return scenarios
  return only.split(',').map(name => {
    const found = scenarios.find(each => each.name === name)
    if (found !== undefined) return found
    throw new RangeError(`ONLY: unknown scenario ${name} (possible: ${scenarios.map(each => each.name).join(', ')})`)
  })
}

async function runAll(
  cluster: Cluster,
  directory: string,
  selection: readonly Scenario[],
): Promise<readonly PublishedRow[]> {
  const where = await circumstances(repository, 1)
  const opened = await openInstallation(cluster, directory)
  const rows: PublishedRow[] = []
  try {
    const installed = await install(opened.installation, say)
    const versions = await opened.installation.versions()
    const add = async (row: Row): Promise<void> => {
      const circumstanced = { ...row, ...where, versions }
      rows.push(circumstanced)
      say(summary(row))
      if (process.env['PUBLISH']) await publish(repository, [circumstanced], scenarios)
    }
    await add(installed)
    for (const scenario of selection) {
      const { name, shows } = scenario
      say(`${name}: ${shows}`)
      await add(
        await runScenario(scenario, opened.installation).catch((error: Error) => {
          say(error.message)
          return broken({ name, shows }, error)
        }),
      )
    }
    return rows
  } finally {
    await opened.close()
  }
}

/** The row of a scenario that could not run to its end. */
const broken = (named: Pick<Row, 'name' | 'shows'>, error: Error): Row => ({
  ...{ ...named, sent: 0, delivered: 0, lost: 0, duplicates: { inProgress: 0, ours: 0 }, refused: 0, restarts: 0 },
  ...{ p50Ms: null, p99Ms: null, latestMs: null, pauseMs: null, measured: [] },
  failures: [`could not run: ${error.message.split('\n', 1)[0]}`],
})

/** Resolves with the exit code: 1 when a scenario fails, 2 when this machine lacks something. */
async function main(): Promise<number> {
  const lacking = await lackingForCluster()
  if (lacking.length > 0) {
    say(`make test-cluster needs:\n${lacking.map(each => `  - ${each}`).join('\n')}`)
    return 2
  }
  const selection = chosen()
  const cleanup: Cleanup = []
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => void stopCluster(cleanup).finally(() => process.exit(130)))
  try {
    const directory = await mkdtemp(join(tmpdir(), 'hookline-install-'))
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const rows = await runAll(await startCluster(cleanup), directory, selection)
    process.stdout.write(`${rows.map(summary).join('\n')}\n`)
    return rows.some(({ failures }) => failures.length > 0) ? 1 : 0
  } finally {
    await stopCluster(cleanup)
  }
}

process.exitCode = await main()
