import { constants } from 'node:os'

type StopSignal = 'SIGINT' | 'SIGTERM'

/** The part of `process` that receives signals and exits. */
interface SignalTarget {
  readonly pid: number
  on(name: StopSignal, handle: (name: StopSignal) => void): unknown
  removeAllListeners(name: StopSignal): unknown
  kill(pid: number, name: StopSignal): unknown
  exit(code: number): unknown
}

/**
 * Handles SIGINT and SIGTERM, and returns `stopSignal` of a `CommandIo`. Until a command calls
 * `stopSignal`, each signal ends the process immediately. After that call, the first signal aborts
 * the returned `AbortSignal`, and the next one ends the process.
 *
 * To end, the process sends itself the signal with its default action, so that a shell script also
 * ends at Ctrl-C. Linux has no default action for the process id 1 of a container, which exits
 * insteadwith 128 plus the number of the signal, like a shell.
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
