import type { Clock } from './ports.ts'
import { sleep } from './sleep-and-yield.ts'
import { durationMs } from './time.ts'

/** How long `withRepeats` repeats work after its first failure. A server restarts in less time. */
export const repeatFor = durationMs(60_000)
/** Time between two tries. */
const repeatEvery = durationMs(1_000)

interface Context {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Repeats `work` after temporary failures, until 60 s after the first one, or until `signal` is
 * aborted.
 * @throws the error of the last call
 */
export async function withRepeats<T>(
  work: () => Promise<T>,
  isTemporary: (error: unknown) => boolean,
  { clock, signal }: Context,
): Promise<T> {
  let endsAt: number | undefined
  for (;;) {
    try {
      return await work()
    } catch (error) {
      endsAt ??= clock.monotonic() + repeatFor
      if (!isTemporary(error) || clock.monotonic() >= endsAt) throw error
      await sleep(clock, repeatEvery, signal)
      if (signal.aborted) throw error
    }
  }
}
