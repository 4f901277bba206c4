import { Chain, type Chained } from '../../core/chain.ts'
import type { CallResult, Cancel, Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs, formatDuration } from '../../core/units.ts'

/** Something that has only so much time. */
export interface Expiring {
  /** All of it has left this process: its answer may be on the way. */
  readonly isSent: boolean
  /** Its time is over. `after`: how much it had, as people write it. */
  expire(after: string): void
}

/** A call: its place among the others, and who waits for its end. */
export class CallUnderWay implements Chained<CallUnderWay> {
  before: CallUnderWay | undefined = undefined
  after: CallUnderWay | undefined = undefined
  /** Given as soon as it is made. */
  expiring: Expiring | undefined = undefined
  /** Its end in monotonic milliseconds, at the latest. */
  readonly dueAt: number
  readonly onEnd: (result: CallResult) => void
  readonly #all: UnderWay

  constructor(all: UnderWay, dueAt: number, onEnd: (result: CallResult) => void) {
    this.#all = all
    this.dueAt = dueAt
    this.onEnd = onEnd
  }

  ended(result: CallResult): void {
    this.#all.end(this, result)
  }
}

/** The calls under way. All have the same time, so the first to begin is the first to expire, and one timer serves them all. */
export class UnderWay {
  readonly #clock: Clock
  readonly #timeout: DurationMs
  /** In the order in which they began. */
  readonly #calls = new Chain<CallUnderWay>()
  #cancelTimer: Cancel | undefined
  #drained: PromiseWithResolvers<void> | undefined

  constructor(clock: Clock, timeout: DurationMs) {
    this.#clock = clock
    this.#timeout = timeout
  }

  add(onEnd: (result: CallResult) => void): CallUnderWay {
    const call = new CallUnderWay(this, this.#clock.monotonic() + this.#timeout, onEnd)
    this.#calls.add(call)
    if (this.#cancelTimer === undefined) this.#arm(this.#timeout)
    return call
  }

  /** Takes a call off that has ended, then tells who waits for it and may add others. */
  end(call: CallUnderWay, result: CallResult): void {
    this.#calls.remove(call)
    call.onEnd(result)
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
    for (const { expiring, dueAt } of this.#calls) {
      if (dueAt > now) break
      if (expiring?.isSent === false) this.#expire(expiring)
    }
    this.#cancelTimer = this.#clock.soon(() => this.#expireDue())
  }

  #expireDue(): void {
    this.#cancelTimer = undefined
    const now = this.#clock.monotonic()
    for (const { expiring, dueAt } of this.#calls) {
      if (dueAt > now) {
        this.#arm(durationMs(Math.ceil(dueAt - now)))
        return
      }
      this.#expire(expiring)
    }
  }

  #expire(call: Expiring | undefined): void {
    call?.expire(formatDuration(this.#timeout))
  }
}
