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
  /** For a retry record: its destination, and whether a replay or resend wrote it. */
  readonly taken: { readonly destination: string; readonly isReplayed: boolean } | undefined
  /** Whether the event is a copy that a replay wrote to the events topic. */
  readonly isReplayedEvent: boolean
}

/**
 * A record from its admission until it is done. The intake and each delivery are its holders. The
 * last `release` of a holder makes the record done, and its offset may be committed.
 */
export class AdmittedRecord implements LinkedListItem<AdmittedRecord> {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  /** When the record was admitted, in monotonic milliseconds. */
  readonly admittedAt: number
  /** False when the record is done or its partition is revoked (`Intake.forget`). */
  isOpen = true
  before: AdmittedRecord | undefined = undefined
  after: AdmittedRecord | undefined = undefined
  #holders = 1
  readonly #listener: DoneListener
  /** The hour in which the event was appended, in hours since 1970, for the ledger. */
  hour = 0
  /** Counted in the ledger when the record is done. */
  readonly entries: LedgerEntry[] = []
  #taken: string | undefined
  #isIdentified = false
  #isReplayedEvent = false

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  /** The destination of a retry record; `undefined` before `identify()`. */
  get destination(): string | undefined {
    return this.#taken
  }

  retain(): void {
    this.#holders++
    this.processor.deliveryAdded()
  }

  /** Notes what the ledger needs to know. Further calls have no effect. */
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
   * and `replayed`, because the original event was counted as `admitted`.
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
   * The destinations that need no delivery: an earlier owner finished them, or they are in the
   * header `done-for` of a copy of the event (`done-destinations-header.ts`).
   */
  get earlierDone(): readonly string[] {
    const inHeader = doneForIn(this.record)
    const inCommit = this.processor.tracker.doneFor(this.record.offset)
    return inHeader.length === 0 ? inCommit : [...inHeader, ...inCommit]
  }

  /** Counts the deliveries of an event that an earlier owner has finished. */
  countEarlierResults(): void {
    for (const [destination, result] of this.processor.tracker.resultsOf(this.record.offset)) {
      this.countAdmitted(destination)
      this.count(destination, result)
    }
  }

  /**
   * Called when an event has a route. If it waited in a retry topic for its source or destination,
   * the ledger counts it as admitted twice: for the destination `-`, and now for its destinations.
   * So it is also counted as `routed`, which the balance of the ledger subtracts.
   */
  countRouted(): void {
    if (this.#taken !== undefined) this.count(this.#taken, 'routed')
  }

  /**
   * Counts the result of a record without a route. An event also counts as admitted, for the
   * destination `-`, so that each result belongs to an admitted event. Deliveries of an earlier
   * owner are counted now, because the copy in a retry or dead-letter topic does not repeat them.
   */
  unroutedResult(result: LedgerResult): void {
    this.countEarlierResults()
    if (this.#taken === undefined) this.countAdmitted(noDestination)
    this.count(this.#taken ?? noDestination, result)
  }

  /**
   * Notes that one destination needs no further delivery of the record, also in the commit metadata
   * for the next owner.
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
