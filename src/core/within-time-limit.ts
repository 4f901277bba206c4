import type { Clock } from './ports.ts'
import type { DurationMs } from './time.ts'

/**
 * Resolves with the result of `work`, or with the result of `late` when `work` has not ended within
 * `time`. `work` then continues, but its result is ignored.
 */
export function within<T, L>(
  clock: Pick<Clock, 'after'>,
  time: DurationMs,
  work: Promise<T>,
  late: () => L | Promise<L>,
): Promise<T | L> {
  const expired = Promise.withResolvers<void>()
  const cancel = clock.after(time, expired.resolve)
  return Promise.race([work, expired.promise.then(late)]).finally(cancel)
}
