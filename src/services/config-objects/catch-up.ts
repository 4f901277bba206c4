import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'

/**
 * Maximum wait until the follower, which reads the config topic all the time, reaches the end of
 * the topic. A follower without a backlog reaches the end every 0.5 s.
 */
const limit = durationMs(10_000)

interface Wait {
  /** When the wait began, in milliseconds of `Clock.boottime`. */
  readonly from: number
  end(isCaughtUp: boolean): void
}

/**
 * Waits until the follower of the config topic has read all records that were acknowledged before
 * the wait began.
 */
export class CatchUp {
  readonly #clock: Pick<Clock, 'boottime' | 'after'>
  readonly #waits = new Set<Wait>()

  constructor(clock: Pick<Clock, 'boottime' | 'after'>) {
    this.#clock = clock
  }

  /**
   * Resolves with true when the follower has read all records that Kafka acknowledged before this
   * call. Resolves with false after 10 s.
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

  /**
   * Called when the follower has read all records that Kafka acknowledged before the time `asOf`.
   * Ends the waits that began at or before this time.
   */
  onCurrent(asOf: number): void {
    for (const wait of this.#waits) if (wait.from <= asOf) wait.end(true)
  }
}
