import type { Clock } from '../core/ports.ts'
import type { DurationMs } from '../core/time.ts'

/** Work that a service repeats, for example a check or a compaction. */
export interface PeriodicTask {
  start(): void
  stop(): void
}

interface Deps {
  readonly clock: Clock
  readonly firstRunAfter: DurationMs
  /** Runs once. Resolves with the time until the next run. */
  readonly run: () => DurationMs | Promise<DurationMs>
}

/** Repeats `run`, one run at a time, until the task is stopped. */
export function createPeriodicTask({ clock, firstRunAfter, run }: Deps): PeriodicTask {
  let isStopped = false
  let cancel = (): void => undefined

  function wait(duration: DurationMs): void {
    if (!isStopped) cancel = clock.after(duration, async () => wait(await run()))
  }

  return {
    start: () => wait(firstRunAfter),
    stop() {
      isStopped = true
      cancel()
    },
  }
}
