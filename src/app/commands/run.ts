import { type Command, Option } from 'commander'
import { systemClock } from '../../adapters/clock/clock.ts'
import { watchConfigFile } from '../../adapters/config-file/watch.ts'
import { createAuditLog, createLogger, type LogLevel } from '../../adapters/logger.ts'
import { logLevels } from '../../core/settings/schema.ts'
import { everyService, type ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { warningsOf } from '../../core/settings/warnings.ts'
import { CommandFailed, type CommandIo, createCommand, print, withConfigOption, withExamples } from '../command.ts'
import { type Addresses, compose } from '../compose/compose.ts'
import { configPath, overridden, readConfiguration } from '../load-settings.ts'
import { withServicesOption } from '../options.ts'
import { logExcluded, reloading } from '../reload.ts'

interface Options {
  readonly config?: string
  /** All of them unless given. */
  readonly services?: ReadonlySet<ServiceName>
  /** Beats the file until the file changes it. */
  readonly logLevel?: LogLevel
}

const description = [
  'Runs the services of this process until SIGTERM or SIGINT, then drains: for a second it is not ready and takes what requests still come, those under way are answered, no new attempt is made, calls under way end, offsets are committed.',
  'Prints one line on stdout when everything is ready; the log goes to stderr as lines of JSON.',
  'Of the files that the configuration names it reads those that these services need, and those for Kafka and the registry.',
  'A changed configuration file is taken over within 5 seconds: sources, destinations, network, payload, audiences and log at once, the rest at the next start.',
].join('\n\n')

/** `hookline run` */
export function runCommand(io: CommandIo): Command {
  const command = createCommand('run', 'run the services of this process', io).description(description)
  withServicesOption(withConfigOption(command), 'which ones')
    .addOption(
      new Option('--log-level <level>', 'least level that is logged (log.level), until log.level changes')
        .choices(logLevels)
        .env('HOOKLINE_LOG_LEVEL'),
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
  const start = await readConfiguration(options, io, services)
  const settings = overridden(start.settings, io.env)
  const logger = createLogger(options.logLevel ?? settings.log.level)
  for (const warning of warningsOf(settings)) logger.warn({}, warning)
  if (start.problems.length > 0) logExcluded(start.problems, logger)
  const stopAsked = io.stopSignal()
  const ended = Promise.withResolvers<Error | undefined>()
  stopAsked.addEventListener('abort', () => ended.resolve(undefined))
  const onFatal = (error: Error): void => {
    logger.error({ error: error.message, ...('code' in error && { code: error.code }) }, 'the process cannot go on')
    ended.resolve(error)
  }
  const composition = compose({ settings, services, logger, audit: createAuditLog(), onFatal, stopAsked })
  const addresses = await composition.start().catch((error: unknown) => {
    if (!stopAsked.aborted) throw error
  })
  if (addresses === undefined) return logger.info({}, 'stopped while it started')
  const watch = watchConfigFile({
    path,
    env: io.env,
    start,
    services,
    clock: systemClock,
    ...reloading(composition, logger),
  })
  print(io, readyLine(addresses, settings))
  const failure = await ended.promise
  watch.close()
  await composition.stop()
  if (failure !== undefined) throw new CommandFailed('a part of the service has ended', { cause: failure })
  logger.info({}, 'stopped')
}

/** Only what runs. */
function readyLine({ collector, operator, ops }: Addresses, { kafka, registry }: Settings): string {
  const parts = { collector, operator, ops, kafka: kafka.brokers.join(','), registry: registry.url }
  const shown = Object.entries(parts).flatMap(([name, where]) => (where === undefined ? [] : [`${name}=${where}`]))
  return `hookline ready ${shown.join(' ')}`
}
