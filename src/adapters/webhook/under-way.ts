import { Chain, type Link } from '../../core/chain.ts'
import type { Cancel, Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs, formatDuration } from '../../core/units.ts'

/** Something that has only so much time. */
export interface Expiring {
  /** All of it has left this process: its answer may be on the way. */
  readonly isSent: boolean
  /** Its time is over. `after`: how much it had, as people write it. */
  expire(after: string): void
}

/** A call and its end in monotonic milliseconds, at the latest. */
interface Timed {
  readonly call: Expiring
  readonly dueAt: number
}

/** What a call is ended by. */
export type UnderWayCall = Link<Timed>

/** The calls under way. All have the same time, so the first to begin is the first to expire, and one timer serves them all. */
export class UnderWay {
  readonly #clock: Clock
  readonly #timeout: DurationMs
  /** In the order in which they began. */
  readonly #calls = new Chain<Timed>()
  #cancelTimer: Cancel | undefined
  #drained: PromiseWithResolvers<void> | undefined

  constructor(clock: Clock, timeout: DurationMs) {
    this.#clock = clock
    this.#timeout = timeout
  }

  add(call: Expiring): UnderWayCall {
    const added = this.#calls.add({ call, dueAt: this.#clock.monotonic() + this.#timeout })
    if (this.#cancelTimer === undefined) this.#arm(this.#timeout)
    return added
  }

  /** Takes a call off that has ended, then runs `after`, which may add others. */
  end(call: UnderWayCall, after: () => void): void {
    this.#calls.remove(call)
    after()
    this.#settle()
  }

  /** Resolves when none is under way. From then on no timer is left behind by calls that have ended. */
  drained(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#settle()
    return this.#drained.promise
  }

  #settle(): void {
    if (this.#drained === undefined || this.#calls.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#drained.resolve()
  }

  /** Armed until it fires, also when no call is left: to set a timer for each would cost more than one that fires for nothing. */
  #arm(delay: DurationMs): void {
    // What expired may have been followed by another call, which has set one.
    this.#cancelTimer?.()
    this.#cancelTimer = this.#clock.after(delay, () => this.#onTimer())
  }

  /**
   * Timers run before sockets are read. After a standstill of this process the answers may be there already: to expire their calls
   * would blame endpoints that have answered, open their breakers and do again what is done. What was not sent must not be sent now.
   */
  #onTimer(): void {
    const now = this.#clock.monotonic()
    for (const { call, dueAt } of this.#calls) {
      if (dueAt > now) break
      if (!call.isSent) this.#expire(call)
    }
    this.#cancelTimer = this.#clock.soon(() => this.#expireDue())
  }

  #expireDue(): void {
    this.#cancelTimer = undefined
    const now = this.#clock.monotonic()
    for (const { call, dueAt } of this.#calls) {
      if (dueAt > now) {
        this.#arm(durationMs(Math.ceil(dueAt - now)))
        return
      }
      this.#expire(call)
    }
  }

  #expire(call: Expiring): void {
    call.expire(formatDuration(this.#timeout))
  }
}
