import { formatProblem, type Loaded, loadConfigFile } from '../adapters/config-file/config-file.ts'
import type { FileReader } from '../core/settings/named-files-and-content-problems.ts'
import type { Settings } from '../core/settings/settings.ts'
import { broker, httpUrl } from '../core/settings/value-types.ts'
import { type CommandIo, ConfigurationRefused, UsageError } from './create-command.ts'
import { printable } from './terminal-table-and-progress-bar.ts'

/**
 * Returns the path of the configuration file: the value of `--config` or, without this option, of
 * HOOKLINE_CONFIG.
 * @throws UsageError if both are missing
 */
export function configPath(options: { readonly config?: string }, io: CommandIo): string {
  const path = options.config ?? io.env['HOOKLINE_CONFIG'] ?? ''
  if (path === '') throw new UsageError('no configuration file: use --config <file> or set HOOKLINE_CONFIG')
  return path
}

/**
 * The services for which a command reads the files that the configuration names, for example files
 * with secrets. `config_topic` means the files with the encryption keys. A command always reads the
 * files for Kafka and the registry.
 */
export type ServicesNeeded = ReadonlySet<FileReader>

/**
 * The settings for a command. KAFKA_BROKERS and SCHEMA_REGISTRY_URL override the file.
 * @throws UsageError, ConfigurationRefused
 */
export async function loadSettings(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded = new Set(),
): Promise<Settings> {
  return withEnvironmentOverrides(await readSettings(options, io, services), io.env)
}

/** As `loadSettings`, without overrides from the environment. */
export async function readSettings(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded,
): Promise<Settings> {
  const { settings, problems } = await readConfiguration(options, io, services)
  for (const problem of problems)
    io.stderr.write(
      `hookline: the command ignores an invalid entry of the configuration: ${printable(formatProblem(problem))}\n`,
    )
  return settings
}

/** As `readSettings`, but returns the problems without printing them, and also the files read. */
export async function readConfiguration(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded,
): Promise<Loaded> {
  const result = await loadConfigFile(configPath(options, io), io.env, undefined, services)
  if (result.kind === 'refused') throw new ConfigurationRefused(result.problems.map(formatProblem))
  return result
}

/** Settings with KAFKA_BROKERS and SCHEMA_REGISTRY_URL applied. @throws UsageError */
export function withEnvironmentOverrides(settings: Settings, env: CommandIo['env']): Settings {
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').flatMap(each => each.trim() || [])
  const url = (env['SCHEMA_REGISTRY_URL'] ?? '').trim()
  for (const each of brokers) rejectInvalid('KAFKA_BROKERS', broker.safeParse(each))
  if (url !== '') rejectInvalid('SCHEMA_REGISTRY_URL', httpUrl.safeParse(url))
  return {
    ...settings,
    ...(brokers.length > 0 && { kafka: { ...settings.kafka, brokers } }),
    ...(url !== '' && { registry: { ...settings.registry, url } }),
  }
}

function rejectInvalid(
  name: string,
  { error }: { error?: { issues: readonly { message: string }[] } | undefined },
): void {
  if (error !== undefined) throw new UsageError(`${name}: ${error.issues.map(({ message }) => message).join('; ')}`)
}
