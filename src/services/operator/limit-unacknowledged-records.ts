import type { LogProducer, OutgoingRecord } from '../../core/ports.ts'

/**
 * Maximum number and bytes of the unacknowledged records of one appender: enough for a full Kafka
 * batch to every partition.
 */
const limits = { records: 8_192, bytes: 8 * 1_048_576 }
/** Estimated memory of an unacknowledged record in addition to its bytes. */
const overheadBytes = 256

/**
 * Limits the unacknowledged records. Await `room` before each `add`, and `ended` before a step that
 * needs all records in Kafka. Both reject after a failed append.
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

  room(): Promise<void> {
    return this.#until(() => this.#records < limits.records && this.#bytes < limits.bytes)
  }

  ended(): Promise<void> {
    return this.#until(() => this.#records === 0)
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (this.#failure === undefined && !isReached()) await new Promise<void>(resolve => (this.#wake = resolve))
    if (this.#failure !== undefined) throw this.#failure
  }
}
