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

/** What the ledger (counts of deliveries by result) needs to know about a record. */
export interface LedgerOrigin {
  /** When the event was appended. */
  readonly appendedAt: EpochMs
  /** For a retry record: its destination, and whether a replay or resend wrote it. */
  readonly retryRecord: { readonly destination: string; readonly isReplayed: boolean } | undefined
  /** Whether the event is a copy that a replay wrote to the events topic. */
  readonly isReplayedEvent: boolean
}

/**
 * A record from its admission until it is done. It is done when its last holder (the intake or a
 * delivery) calls `release`.
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
  /** The ledger counts these entries when the record is done. */
  readonly entries: LedgerEntry[] = []
  #retryDestination: string | undefined
  #hasOrigin = false
  #isReplayedEvent = false

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  /** The destination of a retry record; `undefined` before `noteOrigin()`. */
  get destination(): string | undefined {
    return this.#retryDestination
  }

  retain(): void {
    this.#holders++
    this.processor.deliveryAdded()
  }

  /** Notes what the ledger needs to know. Further calls have no effect. */
  noteOrigin({ appendedAt, retryRecord, isReplayedEvent }: LedgerOrigin): void {
    if (this.#hasOrigin) return
    this.#hasOrigin = true
    this.hour = hourOf(appendedAt)
    this.#isReplayedEvent = isReplayedEvent
    if (retryRecord === undefined) return
    this.#retryDestination = retryRecord.destination
    this.count(retryRecord.destination, 'taken')
    if (retryRecord.isReplayed) this.count(retryRecord.destination, 'replayed')
  }

  /**
   * Counts a new delivery. A delivery of a replayed event is not counted as `admitted`, because the
   * delivery of the original event was already counted.
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
   * The destinations that need no delivery of this record: an earlier owner of the partition
   * finished their deliveries, or the header `done-for` names the destinations.
   */
  get earlierDone(): readonly string[] {
    const inHeader = doneForIn(this.record)
    const inCommit = this.processor.tracker.doneFor(this.record.offset)
    return inHeader.length === 0 ? inCommit : [...inHeader, ...inCommit]
  }

  /** Counts the event's deliveries that an earlier owner of the partition has finished. */
  countEarlierResults(): void {
    for (const [destination, result] of this.processor.tracker.resultsOf(this.record.offset)) {
      this.countAdmitted(destination)
      this.count(destination, result)
    }
  }

  /**
   * Called when an event gets a route. If the event waited in a retry topic for its route,
   * `admitted` counts it twice: without a route, and with its deliveries. So the ledger subtracts
   * `routed`.
   */
  countRouted(): void {
    if (this.#retryDestination !== undefined) this.count(this.#retryDestination, 'routed')
  }

  /**
   * Counts the result of a record without a route. A retry record counts for its destination. For
   * an event, the destination is `-`, and the event also counts as admitted.
   */
  unroutedResult(result: LedgerResult): void {
    this.countEarlierResults()
    if (this.#retryDestination === undefined) this.countAdmitted(noDestination)
    this.count(this.#retryDestination ?? noDestination, result)
  }

  /**
   * Notes that one destination needs no further delivery of the record. The commit metadata
   * contains this note for the partition's next owner.
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
