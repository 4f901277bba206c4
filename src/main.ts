import process from 'node:process'
import { handleStopSignals } from './app/stop-signal.ts'

// Handle the signals before the program is loaded, because loading may take a second.
const stopSignal = handleStopSignals(process)
const { runProgram } = await import('./app/program.ts')

const argv = process.argv.slice(2)
const [name, subcommand] = argv.filter(word => !word.startsWith('-'))
/**
 * Whether a failure of stdout is a failure of the command. `hookline run` prints only one line to
 * stdout, so it continues.
 */
const needsStdout = name !== 'run'
/**
 * Whether the command prints while it works. A failure of stdout then ends the command immediately.
 * Other commands print only their result at the end, so they finish their work first.
 */
const isStreaming =
  name === 'tail' || name === 'sink' || (name === 'audience' && subcommand === 'drift' && argv.includes('--json'))

/** Ends a command whose output was not written completely. */
function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  // In `hookline … | head`, `head` closes the pipe when it has enough lines.
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`hookline: stdout could not be written, so the output is incomplete: ${message}\n`)
  process.exit(1)
}

let failure: Error | undefined
process.stdout.on('error', error => {
  failure ??= error
  if (isStreaming) endWithoutOutput(error)
})

const { stdin, stdout, stderr, env } = process
const code = await runProgram(argv, { stdin, stdout, stderr, env, stopSignal })
stdout.write('', error => {
  failure ??= error ?? undefined
  if (failure !== undefined && needsStdout && code === 0) endWithoutOutput(failure)
  process.exit(code)
})
