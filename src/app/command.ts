import type { Readable, Writable } from 'node:stream'
import { inspect } from 'node:util'
import { Command, CommanderError } from 'commander'
import { KafkaError } from '../adapters/kafka/kafkajs/errors.ts'
import { createLogger } from '../adapters/logger.ts'
import type { Logger } from '../core/ports.ts'

/** What a command has of the outside world, so that a test can run one in its own process. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined }
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted at the first SIGINT or SIGTERM after this was called; a second one ends the process at once. */
  stopSignal(): AbortSignal
}

/** 0 done, 1 failed, 2 usage or configuration. */
export type ExitCode = 0 | 1 | 2

/** What was typed cannot be done: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command did not reach its goal, for a reason that the one line of the message tells: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** The configuration cannot be used: one line a problem, exit code 2. */
export class ConfigurationRefused extends Error {
  override readonly name = 'ConfigurationRefused'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** A commander command that writes to `io`, throws instead of exiting, and says what is wrong in one line. */
export function createCommand(name: string, summary: string, io: CommandIo): Command {
  return new Command(name)
    .summary(summary)
    .description(summary)
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      writeErr: text => io.stderr.write(text),
      // Commander's text: `error: unknown option '--jsom'\n(Did you mean --json?)\n`
      outputError: (text, write) =>
        write(
          `hookline: ${text
            .replace(/^error: /, '')
            .trimEnd()
            .replaceAll(/\s+/g, ' ')}\n`,
        ),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
}

/** Adds the examples that end every command's help. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map(example => `  ${example}`).join('\n')}`)
}

/** `--config`, or HOOKLINE_CONFIG. */
export function withConfigOption(command: Command): Command {
  return command.option('-c, --config <file>', 'the configuration file (or HOOKLINE_CONFIG)')
}

/** `--json`: one JSON document on stdout instead of text. */
export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON')
}

/** Writes one line to stdout. */
export function print(io: CommandIo, line: string): void {
  io.stdout.write(`${line}\n`)
}

/** Prints data: as one JSON document when `--json` was given, else as lines of text. */
export function printData(io: CommandIo, options: { json?: boolean }, data: unknown, lines: readonly string[]): void {
  print(io, options.json === true ? JSON.stringify(data, null, 2) : lines.join('\n'))
}

/** Parses the value of an option that is a whole number of at least `least`. */
export function wholeNumber(option: string, least: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
      throw new UsageError(`${option} must be a whole number of at least ${least}, not '${text}'`)
    return value
  }
}

/** Tells on stderr why a command ended; the exit code that goes with it. */
export function reportFailure(error: unknown, io: CommandIo): ExitCode {
  // Commander has said what is wrong already, or has shown the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ConfigurationRefused) {
    io.stderr.write(`${error.lines.join('\n')}\n`)
    return 2
  }
  const debug = (io.env['HOOKLINE_DEBUG'] ?? '') !== ''
  io.stderr.write(`hookline: ${debug ? inspect(error) : oneLine(error)}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** Adapters say in the message what caused it; the cause itself is for HOOKLINE_DEBUG. */
const oneLine = (error: unknown): string =>
  error instanceof Error ? (error.message || error.name).replaceAll(/\s*\n\s*/g, ' ') : String(error)

/** What the libraries under a short command log is of use only to whoever debugs it: HOOKLINE_DEBUG. */
export function commandLogger(io: CommandIo): Logger {
  return (io.env['HOOKLINE_DEBUG'] ?? '') === '' ? silent : createLogger('debug')
}

const ignore = (): void => {}
const silent: Logger = { isLevelEnabled: () => false, debug: ignore, info: ignore, warn: ignore, error: ignore }

/** What is told about a failure, with the command that helps where one does. */
export function withRemedy(error: unknown): unknown {
  const isMissing = error instanceof KafkaError && error.code === 'TOPIC_MISSING'
  if (!isMissing) return error
  return new CommandFailed(`${error.message}: create it with \`hookline topics apply\``, { cause: error })
}
