import type { Command } from 'commander'
import { formatProblem, loadConfigFile } from '../../adapters/config-file/config-file.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { warningsOf } from '../../core/settings/warnings.ts'
import {
  type CommandIo,
  ConfigurationRefused,
  createCommand,
  print,
  printData,
  withExamples,
} from '../create-command.ts'
import { configPath } from '../load-settings.ts'
import { withConfigOption, withJsonOption, withServicesOption } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly services?: ReadonlySet<ServiceName>
}

/** `hookline check-config`: validates the configuration as `run` does, without network access. */
export function checkConfigCommand(io: CommandIo): Command {
  const command = createCommand('check-config', 'validate the configuration without network access', io).description(
    'Reads the configuration and every file that it refers to, and prints one line for each problem. The exit code is 2 if there is a problem.\n\nThe command uses no network, so it does not check destinations and sources that were created through the operator API. The operator service checks them at each change.',
  )
  withServicesOption(
    withJsonOption(withConfigOption(command)),
    'read only the files that these services need, not all files that the configuration names',
  ).action((options: Options) => run(options, io))
  return withExamples(command, [
    'hookline check-config --config hookline.yaml',
    'hookline check-config --services collector',
    'hookline check-config --config hookline.yaml --json | jq .problems',
  ])
}

async function run(options: Options, io: CommandIo): Promise<void> {
  const path = configPath(options, io)
  const result = await loadConfigFile(path, io.env, undefined, options.services)
  if (result.kind === 'refused' || result.problems.length > 0) {
    if (options.json === true) print(io, JSON.stringify({ ok: false, problems: result.problems }, null, 2))
    throw new ConfigurationRefused(result.problems.map(problem => printable(formatProblem(problem))))
  }
  const counts = countsOf(result.settings)
  const warnings = warningsOf(result.settings)
  printData(io, options, { ok: true, ...counts, warnings, files: result.snapshot.paths() }, [
    `${path} is valid: ${countWithNoun(counts.sources, 'source')}, ${countWithNoun(counts.destinations, 'destination')}, ${countWithNoun(counts.webhooks, 'webhook')}`,
    ...warnings.map(warning => `warning: ${warning}`),
  ])
}

function countsOf({ sources, destinations }: Settings): { sources: number; destinations: number; webhooks: number } {
  return {
    sources: sources.length,
    destinations: destinations.length,
    webhooks: destinations.reduce((sum, { webhooks }) => sum + webhooks.length, 0),
  }
}
