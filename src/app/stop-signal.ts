import { constants } from 'node:os'

type StopSignal = 'SIGINT' | 'SIGTERM'

/** The part of `process` that receives signals and exits. Tests replace it. */
interface SignalTarget {
  readonly pid: number
  on(name: StopSignal, handle: (name: StopSignal) => void): unknown
  removeAllListeners(name: StopSignal): unknown
  kill(pid: number, name: StopSignal): unknown
  exit(code: number): unknown
}

/**
 * Handles SIGINT and SIGTERM, and returns the function `stopSignal` of a `CommandIo`. Until a
 * command calls that function, SIGINT and SIGTERM end the process immediately. The first one after
 * that call aborts the returned `AbortSignal`, so that the command can stop in an orderly way. The
 * next one ends the process immediately.
 *
 * The process ends by the default action of the signal, so that a shell script that runs commands
 * also ends at Ctrl-C. The process of a container has the id 1, for which Linux has no default
 * action. So a process with this id exits, with 128 plus the number of the signal as in a shell.
 */
export function handleStopSignals(target: SignalTarget): () => AbortSignal {
  const stopping = new AbortController()
  let isAwaited = false
  const handle = (name: StopSignal): void => {
    if (isAwaited && !stopping.signal.aborted) return stopping.abort()
    if (target.pid === 1) return void target.exit(128 + constants.signals[name])
    target.removeAllListeners(name)
    target.kill(target.pid, name)
  }
  target.on('SIGINT', handle)
  target.on('SIGTERM', handle)
  return () => {
    isAwaited = true
    return stopping.signal
  }
}
