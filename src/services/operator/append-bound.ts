import type { LogProducer, OutgoingRecord } from '../../core/ports.ts'

/** Enough for full batches to every partition, and little memory however many there are to write. */
const most = { records: 8_192, bytes: 8 * 1_048_576 }
/** What a record costs besides its bytes, while it waits. */
const overheadBytes = 256

/**
 * Records on their way to Kafka, bounded in number and bytes. Whoever adds one waits for `room` first; a step that needs those
 * before it acknowledged waits for `ended`. Both reject with the first failure: what follows would fare no better.
 */
export class Appending {
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

  /** Resolves when one more may be added. */
  room(): Promise<void> {
    return this.#until(() => this.#records < most.records && this.#bytes < most.bytes)
  }

  /** Resolves when all replicas have everything that was added. */
  ended(): Promise<void> {
    return this.#until(() => this.#records === 0)
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (this.#failure === undefined && !isReached()) await new Promise<void>(resolve => (this.#wake = resolve))
    if (this.#failure !== undefined) throw this.#failure
  }
}
