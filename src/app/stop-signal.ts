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
 * Handles SIGINT and SIGTERM. Until the returned function is called, a signal ends the process.
 * After the call, the first signal aborts the `AbortSignal`, and the second ends the process. To
 * end, the process sends itself the signal: a calling shell script then also ends. Process 1 in a
 * container has no default action for signals, and must call `exit`.
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
