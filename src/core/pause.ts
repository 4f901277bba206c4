import type { Clock } from './ports.ts'
import type { DurationMs } from './units.ts'

/** Resolves so much later, by the clock. */
export function pause(clock: Pick<Clock, 'after'>, duration: DurationMs): Promise<void> {
  return new Promise(resolve => clock.after(duration, resolve))
}
