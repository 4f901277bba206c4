import type { LinkedListItem } from '../../core/collections/linked-list.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** A listener that is notified when a record is done. */
interface DoneListener {
  done(open: AdmittedRecord): void
}

/**
 * A record from its admission until it is done. The intake and each delivery of the record call
 * `retain`, and the last `release` makes it done. Its offset is committed only after that, so a
 * crash loses no delivery.
 */
export class AdmittedRecord implements LinkedListItem<AdmittedRecord> {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  /** When the record was admitted, in monotonic milliseconds. */
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

  /**
   * Notes that a destination needs no further delivery of the record, while other destinations
   * still do. The commit metadata stores this for the next owner of the partition.
   */
  doneFor(destination: string): void {
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination)
  }

  release(): void {
    if (--this.#holders === 0) this.#listener.done(this)
  }
}
