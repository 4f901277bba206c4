import type { Readable, Writable } from 'node:stream'
import { inspect } from 'node:util'
import { Command, CommanderError } from 'commander'
import { KafkaError } from '../adapters/kafka/kafkajs/errors.ts'
import { createLogger } from '../adapters/logger-and-audit-log.ts'
import type { Logger } from '../core/ports.ts'

export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined }
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * Returns an AbortSignal that the next SIGINT or SIGTERM aborts. A second signal ends the
   * process.
   */
  stopSignal(): AbortSignal
}

/** 0: success. 1: failure. 2: usage or configuration error. */
export type ExitCode = 0 | 1 | 2

/** The arguments are invalid. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command failed. The message is one line. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** The configuration is invalid. There is one line for each problem. Exit code 2. */
export class ConfigurationRefused extends Error {
  override readonly name = 'ConfigurationRefused'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** Creates a command that writes to `io`, throws instead of exiting, and has one-line errors. */
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
      // An example of commander's text: `error: unknown option '--jsom'\n(Did you mean --json?)\n`
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

/** Appends examples to the help text of a command. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map(example => `  ${example}`).join('\n')}`)
}

export function print(io: CommandIo, line: string): void {
  io.stdout.write(`${line}\n`)
}

/** Prints `data` as JSON with `--json`, otherwise `lines`. */
export function printData(io: CommandIo, options: { json?: boolean }, data: unknown, lines: readonly string[]): void {
  print(io, options.json === true ? JSON.stringify(data, null, 2) : lines.join('\n'))
}

/**
 * Resolves when all output is written.
 * @throws CommandFailed, with `consequence`, when stdout cannot be written
 */
export function outputWritten({ stdout }: CommandIo, consequence: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write('', error => {
      if (error) reject(new CommandFailed(`stdout could not be written: ${error.message}; ${consequence}`))
      else resolve()
    })
  })
}

/** Writes the error of a failed command to stderr and returns the exit code. */
export function reportFailure(error: unknown, io: CommandIo): ExitCode {
  // Commander has already written its error, help or version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ConfigurationRefused) {
    io.stderr.write(`${error.lines.join('\n')}\n`)
    return 2
  }
  const debug = (io.env['HOOKLINE_DEBUG'] ?? '') !== ''
  io.stderr.write(`hookline: ${debug ? inspect(error) : oneLine(error)}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** The error message on one line. */
const oneLine = (error: unknown): string =>
  error instanceof Error ? (error.message || error.name).replaceAll(/\s*\n\s*/g, ' ') : String(error)

/** The logger for short commands. It discards all lines unless HOOKLINE_DEBUG is set. */
export function commandLogger(io: CommandIo): Logger {
  return (io.env['HOOKLINE_DEBUG'] ?? '') === '' ? silent : createLogger('debug')
}

const ignore = (): void => {}
const silent: Logger = { isLevelEnabled: () => false, debug: ignore, info: ignore, warn: ignore, error: ignore }

/**
 * Returns the error. If a topic is missing, the returned error also names the command that creates
 * it.
 */
export function withRemedy(error: unknown): unknown {
  const isMissing = error instanceof KafkaError && error.code === 'TOPIC_MISSING'
  if (!isMissing) return error
  return new CommandFailed(`${error.message}; create it with: hookline topics apply`, { cause: error })
}
