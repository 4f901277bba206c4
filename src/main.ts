import process from 'node:process'
import { handleStopSignals } from './app/stop-signal.ts'

// The signals are handled before the program is loaded, which may take a second.
const stopSignal = handleStopSignals(process)
const { runProgram } = await import('./app/program.ts')

const argv = process.argv.slice(2)
/**
 * Whether a failure of stdout ends the command. `hookline run` prints only one line to stdout, so
 * it continues.
 */
const needsStdout = argv.find(word => !word.startsWith('-')) !== 'run'

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
  // `setImmediate` lets a command that awaits its output (`outputWritten`) report its own error
  // first.
  if (needsStdout) setImmediate(endWithoutOutput, error)
})

const { stdin, stdout, stderr, env } = process
const code = await runProgram(argv, { stdin, stdout, stderr, env, stopSignal })
stdout.write('', error => {
  failure ??= error ?? undefined
  if (failure !== undefined && needsStdout && code === 0) endWithoutOutput(failure)
  process.exit(code)
})
