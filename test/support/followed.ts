import { systemClock } from '../../src/adapters/clock.ts'
import type { LogRecord, TopicFollowerHandlers } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/units.ts'

/** What a follower has handed over. */
export class Followed implements TopicFollowerHandlers {
  readonly records: LogRecord[] = []
  /** In monotonic milliseconds. */
  asOf = Number.NEGATIVE_INFINITY
  #changed = (): void => undefined

  readonly onRecord = (record: LogRecord): void => {
    this.records.push(record)
    this.#changed()
  }

  readonly onCurrent = (asOf: number): void => {
    this.asOf = asOf
    this.#changed()
  }

  get values(): readonly (string | null)[] {
    return this.records.map(({ value }) => value?.toString() ?? null)
  }

  /** Resolves when the condition holds; it is looked at whenever something is handed over. */
  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      this.#changed = () => {
        if (condition()) resolve()
      }
      this.#changed()
    })
  }

  /** Resolves when nothing has been told for so long. */
  async untilBehind(ms: number): Promise<void> {
    const left = (): number => this.asOf + ms - systemClock.monotonic()
    while (left() > 0) await new Promise<void>(resolve => systemClock.after(durationMs(left()), resolve))
  }
}
