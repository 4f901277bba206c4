import type { LinkedListItem } from '../../core/collections/linked-list.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { hourOf, type LedgerEntry, type LedgerField, type LedgerResult } from '../../core/ledger/ledger-counts.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** A listener that is notified when a record is done. */
interface DoneListener {
  done(open: AdmittedRecord): void
}

/** What the ledger needs to know about a record. */
export interface LedgerIdentity {
  /** When the event was appended. */
  readonly appended: EpochMs
  /** The destination of a record from a retry topic, and whether an operator wrote this record. */
  readonly taken: { readonly destination: string; readonly isReplayed: boolean } | undefined
  /** Whether an operator wrote the event to the events topic again. */
  readonly isReplayedEvent: boolean
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
  /** The hour of its event, for the ledger. */
  hour = 0
  /** What the ledger counts when the record is done. */
  readonly entries: LedgerEntry[] = []
  /**
   * The destination of a record from a retry topic; `undefined` for an event, and before `identify`.
   */
  #taken: string | undefined
  #isIdentified = false
  /** Whether an operator wrote its event to the events topic again. */
  #isReplayedEvent = false

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  retain(): void {
    this.#holders++
  }

  /** Notes what the ledger needs to know about the record. Further calls have no effect. */
  identify({ appended, taken, isReplayedEvent }: LedgerIdentity): void {
    if (this.#isIdentified) return
    this.#isIdentified = true
    this.hour = hourOf(appended)
    this.#isReplayedEvent = isReplayedEvent
    if (taken === undefined) return
    this.#taken = taken.destination
    this.count(taken.destination, 'taken')
    if (taken.isReplayed) this.count(taken.destination, 'replayed')
  }

  /** Counts that the delivery of the event to a destination begins. */
  countAdmitted(destination: string): void {
    if (!this.#isReplayedEvent) return this.count(destination, 'admitted')
    this.count(destination, 'taken')
    this.count(destination, 'replayed')
  }

  count(destination: string, field: LedgerField): void {
    this.entries.push({ destination, field })
  }

  /** Counts that the event has a route, even if it waited for its source or destination before. */
  countRouted(): void {
    if (this.#taken !== undefined) this.count(this.#taken, 'routed')
  }

  /** Counts the result of a record that is not routed. */
  unroutedResult(result: LedgerResult): void {
    if (this.#taken === undefined) this.countAdmitted(noDestination)
    this.count(this.#taken ?? noDestination, result)
  }

  /**
   * Notes that a destination needs no further delivery of the record, while other destinations
   * still do. The commit metadata stores this for the next owner of the partition.
   */
  doneFor(destination: string, result: LedgerResult): void {
    this.count(destination, result)
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination, result)
  }

  release(): void {
    if (--this.#holders === 0) this.#listener.done(this)
  }
}
