import type { LinkedListItem } from '../../core/collections/linked-list.ts'
import { doneForIn } from '../../core/delivery/done-destinations-header.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { hourOf, type LedgerEntry, type LedgerField, type LedgerResult } from '../../core/ledger/ledger-counts.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** A listener that is notified when an admitted record is done. */
interface DoneListener {
  done(open: AdmittedRecord): void
}

/** What the ledger needs to know about a record. */
export interface LedgerIdentity {
  /** When the event was appended. */
  readonly appended: EpochMs
  /**
   * For a record from a retry topic: its destination, and whether a replay or resend wrote the
   * record. `undefined` for an event.
   */
  readonly taken: { readonly destination: string; readonly isReplayed: boolean } | undefined
  /** Whether the event is a copy that a replay wrote to the events topic. */
  readonly isReplayedEvent: boolean
}

/**
 * A record from its admission until it is done. The intake and each delivery of the record are its
 * holders. A holder calls `release` when it has finished with the record, and the last `release`
 * makes the record done. The offset is committed only after that, so a crash loses no delivery.
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
  /**
   * The hour in which the event was appended to Kafka, in hours since 1970. The ledger counts by
   * this hour.
   */
  hour = 0
  /** The counts that the ledger gets when the record is done. */
  readonly entries: LedgerEntry[] = []
  #taken: string | undefined
  #isIdentified = false
  /** Whether the event is a copy that a replay wrote to the events topic. */
  #isReplayedEvent = false

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  /**
   * The destination of a record from a retry topic; `undefined` for an event, and before
   * `identify()` is called.
   */
  get destination(): string | undefined {
    return this.#taken
  }

  retain(): void {
    this.#holders++
    this.processor.deliveryAdded()
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

  /**
   * Counts a new delivery in the ledger: as `admitted` or, if a replay wrote the event, as `taken`
   * and `replayed`. The ledger has already counted the original event as `admitted`.
   */
  countAdmitted(destination: string): void {
    if (!this.#isReplayedEvent) return this.count(destination, 'admitted')
    this.count(destination, 'taken')
    this.count(destination, 'replayed')
  }

  count(destination: string, field: LedgerField): void {
    this.entries.push({ destination, field })
  }

  /**
   * The destinations that were done with the event before this process admitted it. They get no
   * delivery. An earlier owner of the partition finished them, or they are in the header `done-for`
   * of a copy of the event (`done-destinations-header.ts`).
   */
  get earlierDone(): readonly string[] {
    const inHeader = doneForIn(this.record)
    const inCommit = this.processor.tracker.doneFor(this.record.offset)
    return inHeader.length === 0 ? inCommit : [...inHeader, ...inCommit]
  }

  /** Counts those deliveries of an event that an earlier owner of the partition has finished. */
  countEarlierResults(): void {
    for (const [destination, result] of this.processor.tracker.resultsOf(this.record.offset)) {
      this.countAdmitted(destination)
      this.count(destination, result)
    }
  }

  /**
   * Called when an event has a route. Counts the event as `routed` if it waited in a retry topic
   * until its source or destination was known. The ledger counts this event as admitted twice: for
   * the destination `-` while it waited, and now for its destinations. The balance of the ledger
   * subtracts `routed`, so that the event counts once.
   */
  countRouted(): void {
    if (this.#taken !== undefined) this.count(this.#taken, 'routed')
  }

  /**
   * Counts the result of a record without a route. An event without a route also counts as
   * admitted, for the destination `-`, so that each result in the ledger belongs to an admitted
   * event. Also counts the deliveries that an earlier owner of the partition finished. The copy of
   * the event in a retry topic or the dead-letter topic does not repeat these deliveries, so they
   * are not counted later.
   */
  unroutedResult(result: LedgerResult): void {
    this.countEarlierResults()
    if (this.#taken === undefined) this.countAdmitted(noDestination)
    this.count(this.#taken ?? noDestination, result)
  }

  /**
   * Notes that a destination needs no further delivery of the record, while other destinations
   * still need one. The commit metadata stores this for the next owner of the partition.
   */
  doneFor(destination: string, result: LedgerResult): void {
    this.count(destination, result)
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination, result)
  }

  release(): void {
    if (--this.#holders === 0) this.#listener.done(this)
    else this.processor.deliveryEnded()
  }
}
