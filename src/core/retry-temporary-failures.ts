import type { Clock } from './ports.ts'
import { sleep } from './sleep-and-yield.ts'
import { durationMs } from './time.ts'

/**
 * How long `withRetries` repeats work after its first failure. Hookline processes and Kafka brokers
 * restart in less time.
 */
export const retryFor = durationMs(60_000)
/** Time between two tries. */
const retryEvery = durationMs(1_000)

interface Context {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Repeats `work` after temporary failures, until 60 s after the first one, or until `signal` is
 * aborted.
 * @throws the error of the last call
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  isTemporary: (error: unknown) => boolean,
  { clock, signal }: Context,
): Promise<T> {
  let endsAt: number | undefined
  for (;;) {
    try {
      return await work()
    } catch (error) {
      endsAt ??= clock.monotonic() + retryFor
      if (!isTemporary(error) || clock.monotonic() >= endsAt) throw error
      await sleep(clock, retryEvery, signal)
      if (signal.aborted) throw error
    }
  }
}
