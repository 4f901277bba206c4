import type { RecordedAttempt } from '../delivery/attempt-details-and-recording-rule.ts'
import type { DeliveryState } from '../delivery/delivery-state.ts'
import type { RecordedAttempts } from '../settings/attempts-topic-setting.ts'
import type { EpochMs } from '../time.ts'
import type { LogPlace } from './dead-letter-view.ts'

/* The records and facts from which the timeline of a message is computed. */

/**
 * An event of the message on the events topic. `progress` shows which of its deliveries the
 * dispatchers have processed.
 */
export interface FoundEvent extends LogPlace {
  /** When the broker appended the event. */
  readonly at: EpochMs
  readonly sourceId: string
  readonly type: string
  /** The name of a track event. */
  readonly event?: string | undefined
  readonly receivedAt: EpochMs
  /** The destinations to which the current configuration routes the event. */
  readonly destinations: readonly string[]
  /**
   * The destinations that do not get the event under the current configuration, each with the
   * reason.
   */
  readonly drops: ReadonlyMap<string, string>
  /**
   * `done`: the dispatchers have processed the event for all destinations. A list: they have
   * processed it for these destinations only. `undefined`: the committed offsets could not be read.
   */
  readonly progress: 'done' | readonly string[] | undefined
  /** Whether retention may have removed attempt records that are as old as this event. */
  readonly isOlderThanAttempts: boolean
}

/** A retry record of the message: a delivery that waits in a retry topic for its next attempt. */
export interface FoundCopy extends LogPlace {
  readonly at: EpochMs
  readonly state: DeliveryState
  readonly tier: string
  readonly dueAt: EpochMs
}

/** A dead letter of the message that was neither replayed nor removed. */
export interface FoundDeadLetter extends LogPlace {
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
  readonly copies: readonly FoundCopy[]
  readonly deadLetters: readonly FoundDeadLetter[]
  readonly events: readonly FoundEvent[]
  /** Which topics were read far enough back to find every record of the message. */
  readonly isComplete: { readonly attempts: boolean; readonly copies: boolean; readonly deadLetters: boolean }
  /** Which attempts the dispatchers currently record in the attempts topic. */
  readonly recorded: RecordedAttempts
  /**
   * The search has read all events and attempt records after this time. The time is later than the
   * requested one in two cases: the search ended early (`isPartial`), or it found the newest event,
   * and ended at the time of this event.
   */
  readonly searchedSince: EpochMs
  /** Whether the search ended before it had read all records in the requested time. */
  readonly isPartial: boolean
  /** Whether an attempt names an event that retention has removed. */
  readonly isEventRemoved: boolean
}
