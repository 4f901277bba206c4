import type { Clock } from '../core/ports.ts'
import type { DurationMs } from '../core/time.ts'

/** Work that a service repeats, for example a check or a compaction. */
export interface PeriodicTask {
  start(): void
  stop(): void
}

interface Deps {
  readonly clock: Clock
  readonly firstAfter: DurationMs
  /** Runs once. Resolves with the time until the next run. */
  readonly turn: () => DurationMs | Promise<DurationMs>
}

/** Repeats `turn`, one run at a time, until the task is stopped. */
export function createPeriodicTask({ clock, firstAfter, turn }: Deps): PeriodicTask {
  let isStopped = false
  let cancel = (): void => undefined

  function wait(duration: DurationMs): void {
    if (!isStopped) cancel = clock.after(duration, async () => wait(await turn()))
  }

  return {
    start: () => wait(firstAfter),
    stop() {
      isStopped = true
      cancel()
    },
  }
}
