import type { Command } from 'commander'
import { processClock } from '../../adapters/clock/process-clock.ts'
import { watchConfigFile } from '../../adapters/config-file/watch.ts'
import { createAuditLog, createLogger, type LogLevel } from '../../adapters/logger-and-audit-log.ts'
import { logLevels } from '../../core/settings/schema-of-configuration.ts'
import { everyService, type ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { loggedWarningsOf } from '../../core/settings/warnings.ts'
import { type Addresses, compose } from '../compose/compose.ts'
import { type CommandIo, createCommand, print, withExamples } from '../create-command.ts'
import { configPath, readConfiguration, withEnvironmentOverrides } from '../load-settings.ts'
import { choice, closedOption, withConfigOption, withServicesOption } from '../options.ts'
import { logExcluded, reloadHandlers } from '../reload-handlers.ts'
import { runUntilStopped } from '../run-until-stopped.ts'

interface Options {
  readonly config?: string
  /** The services to run; `undefined` means all. */
  readonly services?: ReadonlySet<ServiceName>
  /** Overrides `log.level` until a reload changes `log.level`. */
  readonly logLevel?: LogLevel
  readonly waitForSetup?: boolean
}

const description = [
  'Runs the services in this process until SIGTERM or SIGINT. For one second after the signal, the readiness check fails, but the collector still accepts requests. Then the process responds to pending requests, waits for the delivery attempts in progress, commits offsets and exits. A second signal ends the process immediately.',
  'Prints one line on stdout when all services are ready. Logs JSON lines to stderr. If a log line cannot be written, for example on a full disk, the line is lost, and the process continues. A later log line has the number of lost lines.',
  'The configuration can name other files, for example files with secrets. The command reads only the files that the selected services and the connections to Kafka and the schema registry need.',
  'Changes of these keys of the configuration apply within 5 seconds (`canary` and `notices`: 10 seconds): `sources`, `destinations`, `destinationsFrom`, `audiences`, `network`, `payload`, `canary`, `notices`, `operator.keys`, `operator.encryptionKeyFile` and `log`. All other changes need a restart.',
  'Two changes of `operator` keys also need a restart. If you add or remove the setting `operator.encryptionKeyFile`, restart all processes. If `operator.keys` gets its first key or loses its last key, restart the processes with the service operator.',
].join('\n\n')

/** `hookline run` */
export function runCommand(io: CommandIo): Command {
  const command = createCommand('run', 'run the services: collector, dispatcher, audiences and operator', io)
  command.description(description)
  withServicesOption(withConfigOption(command), 'services to run')
    .addOption(
      closedOption(
        '--log-level',
        'minimum log level at the start; a later change of log.level in the configuration replaces it (default: the value of HOOKLINE_LOG_LEVEL or, if this variable is not set, log.level)',
        logLevels,
      ),
    )
    .option(
      '--wait-for-setup',
      'wait while topics or schemas are missing, or the schema registry is unavailable (default: exit with code 1)',
    )
    .action((options: Options) => run(options, io))
  return withExamples(command, [
    'hookline run --config hookline.yaml',
    'hookline run --services collector',
    'hookline run --log-level debug 2> hookline.log',
  ])
}

async function run(options: Options, io: CommandIo): Promise<void> {
  const path = configPath(options, io)
  const { services = everyService } = options
  const logLevel = options.logLevel ?? logLevelIn(io)
  const start = await readConfiguration(options, io, services)
  const override = (loaded: Settings): Settings => withEnvironmentOverrides(loaded, io.env)
  const settings = override(start.settings)
  const logger = createLogger(logLevel ?? settings.log.level)
  for (const warning of loggedWarningsOf(settings)) logger.warn({}, warning)
  if (options.services?.has('operator') && settings.operatorListen === undefined)
    logger.warn(
      {},
      'the operator service does not listen, because operator.keys has no key; add a key, and restart this process',
    )
  if (start.problems.length > 0) logExcluded(start.problems, logger)
  await runUntilStopped({
    signal: io.stopSignal(),
    logger,
    compose: context =>
      compose({
        ...{ settings, services, logger, audit: createAuditLog(), ...context },
        waitForSetup: options.waitForSetup ?? false,
      }),
    // Watch the file during the start too, because the start can wait for Kafka for a long time.
    onComposed: composition =>
      watchConfigFile({
        path,
        env: io.env,
        start: { ...start, settings },
        override,
        services,
        clock: processClock,
        ...reloadHandlers(composition, logger),
      }).close,
    onReady: addresses => print(io, readyLine(addresses, settings)),
  })
}

/**
 * The log level in HOOKLINE_LOG_LEVEL.
 * @throws UsageError when its value is not a log level
 */
function logLevelIn({ env }: CommandIo): LogLevel | undefined {
  const level = env['HOOKLINE_LOG_LEVEL'] ?? ''
  return level === '' ? undefined : choice('HOOKLINE_LOG_LEVEL', level, logLevels)
}

/** The line that is printed when all services are ready, with the addresses. */
function readyLine({ collector, operator, ops }: Addresses, { kafka, registry }: Settings): string {
  const parts = { collector, operator, ops, kafka: kafka.brokers.join(','), registry: registry.url }
  const shown = Object.entries(parts).flatMap(([name, where]) => (where === undefined ? [] : [`${name}=${where}`]))
  return `hookline ready ${shown.join(' ')}`
}
