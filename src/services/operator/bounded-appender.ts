import type { LogProducer, OutgoingRecord } from '../../core/ports.ts'

/**
 * Maximum number and bytes of the unacknowledged records of one appender. These limits permit full
 * batches to every partition, and the records need little memory.
 */
const limits = { records: 8_192, bytes: 8 * 1_048_576 }
/** Estimated memory of an unacknowledged record in addition to its bytes. */
const overheadBytes = 256

/**
 * Appends records to Kafka, with limits for the number and bytes of unacknowledged records.
 * - `room`: await it before each record.
 * - `ended`: await it before a step that needs all earlier records acknowledged.
 *
 * Both reject with the first failure, because further appends would fail too.
 */
export class BoundedAppender {
  readonly #producer: LogProducer
  #records = 0
  #bytes = 0
  #failure: Error | undefined
  #wake = (): void => {}

  constructor(producer: LogProducer) {
    this.#producer = producer
  }

  add(topic: string, record: OutgoingRecord): void {
    const bytes = overheadBytes + (record.key?.length ?? 0) + (record.value?.length ?? 0)
    this.#records++
    this.#bytes += bytes
    this.#producer.append(topic, record, error => {
      this.#records--
      this.#bytes -= bytes
      this.#failure ??= error
      this.#wake()
    })
  }

  /** Resolves when another record may be added. */
  room(): Promise<void> {
    return this.#until(() => this.#records < limits.records && this.#bytes < limits.bytes)
  }

  /** Resolves when all in-sync replicas have every record that was added. */
  ended(): Promise<void> {
    return this.#until(() => this.#records === 0)
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (this.#failure === undefined && !isReached()) await new Promise<void>(resolve => (this.#wake = resolve))
    if (this.#failure !== undefined) throw this.#failure
  }
}
