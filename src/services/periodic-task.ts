import type { Clock } from '../core/ports.ts'
import type { DurationMs } from '../core/units.ts'

/** Something small that is done again and again beside the work of a service. */
export interface PeriodicTask {
  start(): void
  stop(): void
}

interface Deps {
  readonly clock: Clock
  /** Until the first turn. */
  readonly firstAfter: DurationMs
  /** Does what is to be done now. Resolves with how long it is until the next turn. */
  readonly turn: () => DurationMs | Promise<DurationMs>
}

/** Takes one turn after the other, until it is stopped. */
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
