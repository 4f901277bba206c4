import type { LogRecord, RecordBatch } from '../../core/ports.ts'

/**
 * Fetched records of a partition that are not admitted yet, in order. An admitted record costs several
 * times its bytes (decoded, routed, queued), and one fetch may bring a thousand: they wait undecoded.
 */
export class Unread {
  /** The next one is the last one: what was taken is held no longer. */
  #records: LogRecord[] = []
  #nextOffset = 0

  get isEmpty(): boolean {
    return this.#records.length === 0
  }

  /** The offset behind everything that was added; 0 before. */
  get nextOffset(): number {
    return this.#nextOffset
  }

  add({ records, nextOffset }: RecordBatch): void {
    this.#records = records.toReversed().concat(this.#records)
    this.#nextOffset = nextOffset
  }

  /** Takes the next one; undefined when there is none. */
  next(): LogRecord | undefined {
    return this.#records.pop()
  }

  /** The one that was taken last is the next one again. */
  requeue(record: LogRecord): void {
    this.#records.push(record)
  }

  /** Truncates the buffer to `max` records. Returns the first offset to fetch again, if any. */
  truncate(max: number): number | undefined {
    const dropped = this.#records.splice(0, Math.max(0, this.#records.length - max))
    const first = dropped.at(-1)?.offset
    if (first !== undefined) this.#nextOffset = first
    return first
  }
}
