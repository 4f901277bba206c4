import type { LogRecord, RecordBatch } from '../../core/ports.ts'

/**
 * Fetched records that are not admitted yet, in offset order. They are not decoded, because decoded
 * records need several times the memory.
 */
export class FetchBuffer {
  /** In reverse order: `next` removes the last item, which frees its memory. */
  #records: LogRecord[] = []
  #nextOffset = 0

  get isEmpty(): boolean {
    return this.#records.length === 0
  }

  /** The offset at which the next batch begins; 0 before the first batch. */
  get nextOffset(): number {
    return this.#nextOffset
  }

  add({ records, nextOffset }: RecordBatch): void {
    this.#records = records.toReversed().concat(this.#records)
    this.#nextOffset = nextOffset
  }

  next(): LogRecord | undefined {
    return this.#records.pop()
  }

  /** Adds a record to the front, so that `next` returns it again. */
  requeue(record: LogRecord): void {
    this.#records.push(record)
  }

  /**
   * Keeps the first `max` records. Returns the first dropped offset, which must be fetched again.
   */
  truncate(max: number): number | undefined {
    const dropped = this.#records.splice(0, Math.max(0, this.#records.length - max))
    const first = dropped.at(-1)?.offset
    if (first !== undefined) this.#nextOffset = first
    return first
  }
}
