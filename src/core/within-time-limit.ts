import type { Clock } from './ports.ts'
import type { DurationMs } from './time.ts'

/**
 * Resolves with the result of `work` or, if it has not ended within `time`, of `late`. `work` is
 * not stopped.
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
