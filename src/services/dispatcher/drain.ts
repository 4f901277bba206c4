import { flowLimits } from '../../core/flow/limits.ts'
import { pause } from '../../core/pause.ts'
import type { Clock } from '../../core/ports.ts'
import type { DurationMs } from '../../core/units.ts'

const { timeout: drainTimeout, handOverTimeout, checkEvery } = flowLimits.drain

interface Deps {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  /** Whether anything is in progress. */
  readonly isBusy: () => boolean
  /** What has to be done when nothing is in progress any more; it may begin something itself. */
  readonly handOver: () => void
}

/** Ends what is in progress before a stop. Resolves with whether all of it has ended in time. */
export async function drain({ clock, isBusy, handOver }: Deps): Promise<boolean> {
  const idle = async (limit: DurationMs): Promise<boolean> => {
    const deadline = clock.monotonic() + limit
    while (isBusy() && clock.monotonic() < deadline) await pause(clock, checkEvery)
    return !isBusy()
  }
  await idle(drainTimeout)
  handOver()
  return idle(handOverTimeout)
}
