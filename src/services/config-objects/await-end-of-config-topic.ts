import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'

/** Maximum wait. Normally, the follower reaches the end of the config topic every 0.5 s. */
const limit = durationMs(10_000)

interface Wait {
  /** When the wait began, in milliseconds of `Clock.boottime`. */
  readonly from: number
  end(isCaughtUp: boolean): void
}

/**
 * Lets callers wait until the follower of the config topic has read all records acknowledged before
 * the call.
 */
export class CatchUp {
  readonly #clock: Pick<Clock, 'boottime' | 'after'>
  readonly #waits = new Set<Wait>()
  /**
   * The last `asOf` of `onCurrent`. All records that Kafka acknowledged before this time are read.
   */
  #asOf = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'boottime' | 'after'>) {
    this.#clock = clock
  }

  /** Milliseconds since `#asOf`; infinite before the first call of `onCurrent`. */
  age(): DurationMs {
    return durationMs(this.#clock.boottime() - this.#asOf)
  }

  /**
   * Resolves with true when all records that Kafka acknowledged before the call are read, or with
   * false after 10 s.
   */
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

  /** Called when all records that Kafka acknowledged before the time `asOf` were read. */
  onCurrent(asOf: number): void {
    this.#asOf = asOf
    for (const wait of this.#waits) if (wait.from <= asOf) wait.end(true)
  }
}
