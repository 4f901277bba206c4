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
 * command calls that function, each of the two signals ends the process immediately. After the
 * call, the first signal aborts the returned `AbortSignal`, so that the command can stop in an
 * orderly way. The next signal ends the process immediately.
 *
 * To end, the process sends the signal to itself again, now with the default action of the signal.
 * So a shell script that runs the command also ends at Ctrl-C. The process of a container has the
 * id 1, and Linux has no default action for this id. So a process with this id exits instead, with
 * the exit code that a shell would show: 128 plus the number of the signal.
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
