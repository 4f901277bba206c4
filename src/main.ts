import process from 'node:process'
import type { CommandIo } from './app/command.ts'
import { runProgram } from './app/program.ts'

/** Until a command asks for this, a signal ends the process the ordinary way. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  const stop = (): void => {
    // Without a handler the next signal ends the process immediately.
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

// `hookline … | head`: the reader has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const code = await runProgram(process.argv.slice(2), io)
process.stdout.write('', () => process.exit(code))
