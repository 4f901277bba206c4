import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import type { DurationMs } from '../../core/time.ts'

const { timeout: drainTimeout, handOverTimeout, checkEvery } = flowLimits.drain

interface Deps {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  /** Whether requests, deliveries or appends of this process are in progress. */
  readonly isBusy: () => boolean
  /**
   * Called when nothing is in progress, or after `flowLimits.drain.timeout`. It may start appends.
   */
  readonly handOver: () => void
}

/**
 * Waits until nothing is in progress. Resolves with false if the time limits of `flowLimits.drain`
 * end first.
 */
export async function drain({ clock, isBusy, handOver }: Deps): Promise<boolean> {
  const idle = async (limit: DurationMs): Promise<boolean> => {
    const deadline = clock.monotonic() + limit
    while (isBusy() && clock.monotonic() < deadline) await sleep(clock, checkEvery)
    return !isBusy()
  }
  await idle(drainTimeout)
  handOver()
  return idle(handOverTimeout)
}
