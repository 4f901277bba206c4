import { formatProblem, type Loaded, loadConfigFile } from '../adapters/config-file/config-file.ts'
import { broker, httpUrl } from '../core/settings/fields.ts'
import type { ServiceName } from '../core/settings/service-names.ts'
import type { Settings } from '../core/settings/settings.ts'
import { type CommandIo, ConfigurationRefused, UsageError } from './command.ts'
import { printable } from './terminal.ts'

/** The file of `--config`, else of HOOKLINE_CONFIG. @throws UsageError when neither is given. */
export function configPath(options: { readonly config?: string }, io: CommandIo): string {
  const path = options.config ?? io.env['HOOKLINE_CONFIG'] ?? ''
  if (path === '') throw new UsageError('no configuration: give --config <file> or set HOOKLINE_CONFIG')
  return path
}

/** Services whose files a command needs, beside those for Kafka and the registry: most need none. */
export type ServicesNeeded = ReadonlySet<ServiceName>

/**
 * The settings that a command works with. KAFKA_BROKERS and SCHEMA_REGISTRY_URL beat the file.
 * @throws UsageError, or ConfigurationRefused with a line for every problem.
 */
export async function loadSettings(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded = new Set(),
): Promise<Settings> {
  return overridden(await readSettings(options, io, services), io.env)
}

/** The settings as the file has them. @throws as `loadSettings` */
export async function readSettings(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded,
): Promise<Settings> {
  const { settings, problems } = await readConfiguration(options, io, services)
  for (const problem of problems) io.stderr.write(`hookline: excluded: ${printable(formatProblem(problem))}\n`)
  return settings
}

/** The same, with what was read for them. @throws as `loadSettings` */
export async function readConfiguration(
  options: { readonly config?: string },
  io: CommandIo,
  services: ServicesNeeded,
): Promise<Loaded> {
  const result = await loadConfigFile(configPath(options, io), io.env, undefined, services)
  if (result.kind === 'refused') throw new ConfigurationRefused(result.problems.map(formatProblem))
  return result
}

/** Settings with what the environment says about where Kafka and the registry are. @throws UsageError */
export function overridden(settings: Settings, env: CommandIo['env']): Settings {
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').flatMap(each => each.trim() || [])
  const url = (env['SCHEMA_REGISTRY_URL'] ?? '').trim()
  for (const each of brokers) refuse('KAFKA_BROKERS', broker.safeParse(each))
  if (url !== '') refuse('SCHEMA_REGISTRY_URL', httpUrl.safeParse(url))
  return {
    ...settings,
    ...(brokers.length > 0 && { kafka: { ...settings.kafka, brokers } }),
    ...(url !== '' && { registry: { ...settings.registry, url } }),
  }
}

function refuse(name: string, { error }: { error?: { issues: readonly { message: string }[] } | undefined }): void {
  if (error !== undefined) throw new UsageError(`${name}: ${error.issues.map(({ message }) => message).join('; ')}`)
}
