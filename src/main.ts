import process from 'node:process'
import { handleStopSignals } from './app/stop-signal.ts'

// The signals are handled before the program is loaded, which may take a second.
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
 * Whether the command writes while it works, so that a failure of stdout ends it immediately. All
 * others write only their result, and end soon after it. They may still fail, with a reason.
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
