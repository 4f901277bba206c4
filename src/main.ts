import process from 'node:process'
import type { CommandIo } from './app/command.ts'
import { runProgram } from './app/program.ts'

/**
 * Returns a signal that the first SIGINT or SIGTERM aborts, so that the command can stop in an
 * orderly way. If a command does not call this function, SIGINT or SIGTERM ends the process
 * immediately.
 */
function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  const stop = (): void => {
    // Remove the handlers, so that the next SIGINT or SIGTERM ends the process immediately.
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    stopping.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return stopping.signal
}

const io: CommandIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  stopSignal,
}

// In `hookline … | head`, `head` closes the pipe when it has enough lines. This is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const code = await runProgram(process.argv.slice(2), io)
process.stdout.write('', () => process.exit(code))
