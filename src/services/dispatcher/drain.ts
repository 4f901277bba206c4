import { pause } from '../../core/pause.ts'
import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'

/** A call is over after 5 s (A4.1), then its copy is written: what is not done by then is done again after the restart. */
export const drainLimit = durationMs(8_000)
const checkEvery = durationMs(20)
/** The hand-over starts copies only, which take milliseconds while Kafka can be reached. */
const handOverLimit = durationMs(2_000)

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
  await idle(drainLimit)
  handOver()
  return idle(handOverLimit)
}
