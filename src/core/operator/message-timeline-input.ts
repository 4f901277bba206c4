import type { RecordedAttempt } from '../delivery/attempt-details-and-recording-rule.ts'
import type { DeliveryState } from '../delivery/delivery-state.ts'
import type { RecordedAttempts } from '../settings/schema-of-attempts-topic.ts'
import type { EpochMs } from '../time.ts'
import type { RecordPosition } from './dead-letter-view.ts'

/* The records and facts from which the timeline of a message is computed. */

/** An event of the message on the events topic. */
export interface FoundEvent extends RecordPosition {
  /** When the broker appended the event. */
  readonly at: EpochMs
  readonly sourceId: string
  readonly type: string
  /** The name of a track event. */
  readonly event?: string | undefined
  readonly receivedAt: EpochMs
  readonly destinations: readonly string[]
  /**
   * For each destination that does not get the event with the current configuration: the reason.
   */
  readonly drops: ReadonlyMap<string, string>
  /**
   * The destinations for which the dispatchers have processed the event; `done` means all of them.
   * `undefined` if the committed offsets could not be read.
   */
  readonly progress: 'done' | readonly string[] | undefined
  /** Whether retention may have removed attempt records that are as old as this event. */
  readonly isOlderThanAttempts: boolean
}

/** A retry record of the message, which waits for its next attempt. */
export interface FoundRetryRecord extends RecordPosition {
  readonly at: EpochMs
  readonly state: DeliveryState
  readonly tier: string
  readonly dueAt: EpochMs
}

/** A dead letter of the message. It was neither replayed nor removed. */
export interface FoundDeadLetter extends RecordPosition {
  readonly key: string
  readonly at: EpochMs
  readonly destination: string | undefined
  readonly reason: string
  readonly round: number
}

/** Everything that was found about a message, in any order. */
export interface TimelineInput {
  readonly id: string
  readonly attempts: readonly RecordedAttempt[]
  readonly retryRecords: readonly FoundRetryRecord[]
  readonly deadLetters: readonly FoundDeadLetter[]
  readonly events: readonly FoundEvent[]
  /** Which topics were read far enough back to find all records. */
  readonly isComplete: { readonly attempts: boolean; readonly retryRecords: boolean; readonly deadLetters: boolean }
  readonly recorded: RecordedAttempts
  /**
   * The search reads the newest records first. It has read all events and attempt records after
   * this time.
   */
  readonly searchedSince: EpochMs
  readonly isPartial: boolean
  /** Whether an attempt names an event that retention removed. */
  readonly isEventRemoved: boolean
}
