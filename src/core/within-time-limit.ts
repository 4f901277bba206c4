import type { Clock } from './ports.ts'
import type { DurationMs } from './time.ts'

/**
 * Resolves with the result of `work`. If `work` has not ended within `time`, resolves with the
 * result of `late` instead, and does not stop `work`.
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
