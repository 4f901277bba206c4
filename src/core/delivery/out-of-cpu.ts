/** Milliseconds between two looks at how busy a process is. */
export const lookEveryMs = 250
/** An event loop that has waited for less than a fiftieth of the time has more to do than it can. */
const busyWithoutEnd = 0.98
/** So has one that looks so late. */
const lateMs = 2 * lookEveryMs

/** Until when a process had more to do than it could, by looks at how busy its event loop was. Times are monotonic milliseconds. */
export class OutOfCpu {
  #lookedAt: number
  #until = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#lookedAt = now
  }

  /** `busyShare`: of the time since the look before, 0 to 1. */
  look(now: number, busyShare: number): void {
    if (busyShare >= busyWithoutEnd || this.#isLate(now)) this.#until = now
    this.#lookedAt = now
  }

  /** As far as is known now; -Infinity: it never had. */
  until(now: number): number {
    return this.#isLate(now) ? now : this.#until
  }

  #isLate(now: number): boolean {
    return now - this.#lookedAt > lateMs
  }
}
