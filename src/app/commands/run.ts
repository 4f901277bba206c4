import { type Command, Option } from 'commander'
import { systemClock } from '../../adapters/clock.ts'
import { watchConfigFile } from '../../adapters/config-file/watch.ts'
import { formatProblem } from '../../adapters/config-file.ts'
import { createLogger, type LogLevel, logLevels } from '../../adapters/logger.ts'
import type { Logger } from '../../core/ports.ts'
import { warningsOf } from '../../core/settings/warnings.ts'
import type { Settings } from '../../core/settings.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  print,
  UsageError,
  withConfigOption,
  withExamples,
} from '../command.ts'
import { type Composition, compose } from '../compose.ts'
import { configPath, overridden, readSettings } from '../load-settings.ts'

const services = ['dispatcher'] as const

interface Options {
  readonly config?: string
  /** There is only one so far: what is checked here decides nothing yet. */
  readonly services?: readonly string[]
  readonly logLevel: LogLevel
}

const description = [
  'Runs the services of this process until SIGTERM or SIGINT, then drains: no new attempt, calls under way end, offsets are committed.',
  'Prints one line on stdout when everything is ready; the log goes to stderr as lines of JSON.',
  'A changed configuration file is taken over within 5 seconds: sources, destinations, network, payload and audiences at once, the rest at the next start.',
].join('\n\n')

/** `hookline run` */
export function runCommand(io: CommandIo): Command {
  const command = withConfigOption(createCommand('run', 'run the services of this process', io))
    .description(description)
    .option('--services <list>', `which ones, separated by commas (all): ${services.join(', ')}`, parseServices)
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .choices(logLevels)
        .default('info')
        .env('HOOKLINE_LOG_LEVEL'),
    )
    .action((options: Options) => run(options, io))
  return withExamples(command, [
    'hookline run --config hookline.yaml',
    'hookline run --log-level debug 2> hookline.log',
  ])
}

function parseServices(text: string): readonly string[] {
  const asked = text.split(',').map(each => each.trim())
  const unknown = asked.find(each => !(services as readonly string[]).includes(each))
  if (unknown !== undefined) throw new UsageError(`--services: '${unknown}' is none; there is ${services.join(', ')}`)
  return asked
}

async function run(options: Options, io: CommandIo): Promise<void> {
  const path = configPath(options, io)
  const inFile = await readSettings(options, io)
  const settings = overridden(inFile, io.env)
  const logger = createLogger(options.logLevel)
  for (const warning of warningsOf(settings)) logger.warn({}, warning)
  const stopAsked = io.stopSignal()
  const ended = Promise.withResolvers<Error | undefined>()
  stopAsked.addEventListener('abort', () => ended.resolve(undefined))
  const onFatal = (error: Error): void => {
    logger.error({ error: error.message, ...('code' in error && { code: error.code }) }, 'the process cannot go on')
    ended.resolve(error)
  }
  const composition = compose({ settings, logger, onFatal })
  const { ops } = await composition.start()
  const watch = watchConfigFile({
    path,
    env: io.env,
    current: inFile,
    clock: systemClock,
    ...reload(composition, logger),
  })
  print(io, `hookline ready ops=${ops} kafka=${settings.kafka.brokers.join(',')} registry=${settings.registry.url}`)
  const failure = await ended.promise
  watch.close()
  await composition.stop()
  if (failure !== undefined) throw new CommandFailed('a part of the service has ended', { cause: failure })
  logger.info({}, 'stopped')
}

function reload(
  composition: Composition,
  logger: Logger,
): Pick<Parameters<typeof watchConfigFile>[0], 'onChange' | 'onRefused'> {
  const { configReloads } = composition.metrics
  return {
    onChange(settings: Settings, change) {
      composition.apply(settings)
      configReloads.inc({ result: 'applied' })
      logger.info({ changed: change.live }, 'configuration taken over')
      if (change.needRestart.length > 0) logger.warn({ keys: change.needRestart }, 'these changes need a restart')
    },
    onRefused(problems) {
      configReloads.inc({ result: 'refused' })
      logger.error({ problems: problems.map(formatProblem) }, 'configuration refused; the last good one stays')
    },
  }
}
