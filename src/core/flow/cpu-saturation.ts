import { flowLimits } from './flow-control-constants.ts'

const { saturatedShare, lateMs } = flowLimits.cpuSaturation

/**
 * Finds out when the process last lacked CPU. It lacks CPU if its event loop is nearly always busy,
 * or if a sample is late. Times are monotonic milliseconds.
 */
export class CpuSaturation {
  #sampledAt: number
  #lastSaturatedAt = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#sampledAt = now
  }

  /** `busyShare` is the busy part of the time since the previous sample, 0 to 1. */
  sample(now: number, busyShare: number): void {
    if (busyShare >= saturatedShare || this.#isLate(now)) this.#lastSaturatedAt = now
    this.#sampledAt = now
  }

  /**
   * The last time at which the process lacked CPU: `now` if the next sample is late already, and
   * `-Infinity` if the process has never lacked CPU.
   */
  lastSaturatedAt(now: number): number {
    return this.#isLate(now) ? now : this.#lastSaturatedAt
  }

  #isLate(now: number): boolean {
    return now - this.#sampledAt > lateMs
  }
}
