import type { LogRecord, RecordBatch } from '../../core/ports.ts'

/**
 * What was fetched of a partition and not taken up yet, in order. A record that is taken up costs several times its bytes (decoded,
 * routed, queued), and one fetch may bring a thousand: they wait here as they came.
 */
export class Unread {
  #records: readonly LogRecord[] = []
  #at = 0
  #nextOffset = 0

  get isEmpty(): boolean {
    return this.#at === this.#records.length
  }

  /** The offset behind everything that was added; 0 before. */
  get nextOffset(): number {
    return this.#nextOffset
  }

  add({ records, nextOffset }: RecordBatch): void {
    this.#records = this.isEmpty ? records : [...this.#records.slice(this.#at), ...records]
    this.#at = 0
    this.#nextOffset = nextOffset
  }

  /** Takes the next one; undefined when there is none. */
  next(): LogRecord | undefined {
    if (this.isEmpty) return undefined
    const record = this.#records[this.#at++]
    if (this.isEmpty) this.#drop()
    return record
  }

  /** As if nothing had been added: it comes again. */
  clear(): void {
    this.#drop()
    this.#nextOffset = 0
  }

  #drop(): void {
    this.#records = []
    this.#at = 0
  }
}
