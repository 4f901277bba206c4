import { flowLimits } from './limits.ts'

const { saturatedShare, lateMs } = flowLimits.cpuSaturation

/** Until when the process lacked CPU, by samples of its event loop. Times are monotonic milliseconds. */
export class CpuSaturation {
  #sampledAt: number
  #until = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#sampledAt = now
  }

  /** `busyShare`: of the time since the sample before, 0 to 1. */
  sample(now: number, busyShare: number): void {
    if (busyShare >= saturatedShare || this.#isLate(now)) this.#until = now
    this.#sampledAt = now
  }

  /** As far as is known now; -Infinity: never. */
  until(now: number): number {
    return this.#isLate(now) ? now : this.#until
  }

  #isLate(now: number): boolean {
    return now - this.#sampledAt > lateMs
  }
}
