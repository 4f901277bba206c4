import { constants } from 'node:os'

type StopSignal = 'SIGINT' | 'SIGTERM'

/** The part of `process` that receives signals and exits. Tests replace it. */
interface SignalTarget {
  on(name: StopSignal, handle: (name: StopSignal) => void): unknown
  exit(code: number): unknown
}

/**
 * Handles SIGINT and SIGTERM, and returns the function `stopSignal` of a `CommandIo`. Until a
 * command calls that function, a signal ends the process immediately. The first signal after that
 * call aborts the returned signal, so that the command can stop in an orderly way. The next one
 * ends the process immediately.
 *
 * The exit code is then 128 plus the number of the signal, as in a shell. The default action of the
 * signals does not suffice: the process of a container has the id 1, and Linux ignores signals to
 * this process if it has no handler.
 */
export function handleStopSignals(target: SignalTarget): () => AbortSignal {
  const stopping = new AbortController()
  let isAwaited = false
  const handle = (name: StopSignal): void => {
    if (!isAwaited || stopping.signal.aborted) target.exit(128 + constants.signals[name])
    else stopping.abort()
  }
  target.on('SIGINT', handle)
  target.on('SIGTERM', handle)
  return () => {
    isAwaited = true
    return stopping.signal
  }
}
