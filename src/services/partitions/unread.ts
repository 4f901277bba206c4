import type { LogRecord, RecordBatch } from '../../core/ports.ts'

/**
 * What was fetched of a partition and not taken up yet, in order. A record that is taken up costs several times its bytes (decoded,
 * routed, queued), and one fetch may bring a thousand: they wait here as they came.
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
  putBack(record: LogRecord): void {
    this.#records.push(record)
  }

  /** Keeps so many, and of the others nothing, as if they had not been added. Returns the first offset that has to come again, if any has. */
  keep(most: number): number | undefined {
    const dropped = this.#records.splice(0, Math.max(0, this.#records.length - most))
    const first = dropped.at(-1)?.offset
    if (first !== undefined) this.#nextOffset = first
    return first
  }
}
