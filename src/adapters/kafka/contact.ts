import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'

/** Answers by which the brokers show that they still serve us as a member. */
const signsOfLife: ReadonlySet<string> = new Set(['Fetch', 'Heartbeat', 'SyncGroup'])

/** When a consumer last heard of a broker, and when it last tried to reach one. */
export class Contact {
  readonly #clock: Pick<Clock, 'monotonic'>
  #lastHeard: number
  #lastTried: number

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#lastHeard = clock.monotonic()
    this.#lastTried = this.#lastHeard
  }

  noteAnswer(apiName: string): void {
    if (signsOfLife.has(apiName)) this.#lastHeard = this.#clock.monotonic()
    this.noteTry()
  }

  /** A connection is opened, or a request has ended, whatever the result. */
  noteTry(): void {
    this.#lastTried = this.#clock.monotonic()
  }

  silence(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastHeard))
  }

  inactivity(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastTried))
  }
}
