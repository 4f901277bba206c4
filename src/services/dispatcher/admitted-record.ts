import type { LinkedListItem } from '../../core/collections/linked-list.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** Is notified when a record is done. */
interface DoneListener {
  done(open: AdmittedRecord): void
}

/**
 * A record from its admission until it is done. The intake and each delivery of the record retain
 * it; the last `release` makes it done. Its offset is committed only after that, so a crash loses
 * no delivery.
 */
export class AdmittedRecord implements LinkedListItem<AdmittedRecord> {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  /** When it was admitted, in monotonic milliseconds. */
  readonly admittedAt: number
  /** False once the record is done, or once its partition is revoked (`Intake.forget`). */
  isOpen = true
  before: AdmittedRecord | undefined = undefined
  after: AdmittedRecord | undefined = undefined
  #holders = 1
  readonly #listener: DoneListener

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  retain(): void {
    this.#holders++
  }

  /** Notes that a destination is done with the record. */
  doneFor(destination: string): void {
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination)
  }

  release(): void {
    if (--this.#holders === 0) this.#listener.done(this)
  }
}
