import { flowLimits } from './limits.ts'

const { saturatedShare, lateMs } = flowLimits.cpuSaturation

/**
 * Finds out when the process last lacked CPU: the event loop was nearly always busy, or a sample is
 * late. Times are monotonic milliseconds.
 */
export class CpuSaturation {
  #sampledAt: number
  #until = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#sampledAt = now
  }

  /** `busyShare` is the busy part of the time since the previous sample, 0 to 1. */
  sample(now: number, busyShare: number): void {
    if (busyShare >= saturatedShare || this.#isLate(now)) this.#until = now
    this.#sampledAt = now
  }

  /**
   * The last time at which the process lacked CPU: `now` if the next sample is late already;
   * -Infinity for never.
   */
  until(now: number): number {
    return this.#isLate(now) ? now : this.#until
  }

  #isLate(now: number): boolean {
    return now - this.#sampledAt > lateMs
  }
}
