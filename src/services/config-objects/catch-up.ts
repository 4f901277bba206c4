import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'

/**
 * Maximum wait for the end of the topic. A follower that is up to date reaches it every 0.5 s.
 */
const limit = durationMs(10_000)

interface Wait {
  /** A time of `Clock.boottime`. */
  readonly from: number
  end(isCaughtUp: boolean): void
}

/** Waits until a follower has read everything that was acknowledged before the wait. */
export class CatchUp {
  readonly #clock: Pick<Clock, 'boottime' | 'after'>
  readonly #waits = new Set<Wait>()

  constructor(clock: Pick<Clock, 'boottime' | 'after'>) {
    this.#clock = clock
  }

  /** Resolves with false after 10 s. */
  async reached(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = this.#clock.after(limit, () => resolve(false))
    const wait = { from: this.#clock.boottime(), end: resolve }
    this.#waits.add(wait)
    const isReached = await promise
    cancel()
    this.#waits.delete(wait)
    return isReached
  }

  /** Ends the waits that began at or before `asOf`: the follower has read all records up to then. */
  onCurrent(asOf: number): void {
    for (const wait of this.#waits) if (wait.from <= asOf) wait.end(true)
  }
}
