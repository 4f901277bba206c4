import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { LogRecord, TopicFollowerHandlers } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/time.ts'
import { Conditions } from '../awaited-conditions.ts'

export class RecordingFollower implements TopicFollowerHandlers {
  readonly records: LogRecord[] = []
  /** Partitions in which Kafka has lost records. */
  readonly truncated: number[] = []
  /** All records that Kafka acknowledged before this monotonic time in ms were read. */
  asOf = Number.NEGATIVE_INFINITY
  readonly #conditions = new Conditions()

  readonly onRecord = (record: LogRecord): void => {
    this.records.push(record)
    this.#conditions.changed()
  }

  readonly onCurrent = (asOf: number): void => {
    this.asOf = asOf
    this.#conditions.changed()
  }

  readonly onTruncated = (partition: number): void => void this.truncated.push(partition)

  get values(): readonly (string | null)[] {
    return this.records.map(({ value }) => value?.toString() ?? null)
  }

  until(condition: () => boolean): Promise<void> {
    return this.#conditions.until(condition)
  }

  /** Resolves when `asOf` is at least `ms` in the past. */
  async untilBehind(ms: number): Promise<void> {
    const left = (): number => this.asOf + ms - processClock.monotonic()
    while (left() > 0) await new Promise<void>(resolve => processClock.after(durationMs(left()), resolve))
  }
}
