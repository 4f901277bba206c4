import type { RecordedAttempt } from '../delivery/attempt-record.ts'
import type { DeliveryState } from '../delivery/delivery-state.ts'
import type { RecordedAttempts } from '../settings/recorded-attempts.ts'
import type { EpochMs } from '../time.ts'
import type { LogPlace } from './dead-letter-view.ts'

/* The pieces from which the timeline of a message is joined. */

/** An event of the message on the events topic, with what the dispatchers have committed. */
export interface FoundEvent extends LogPlace {
  /** When the broker appended it. */
  readonly at: EpochMs
  readonly sourceId: string
  readonly type: string
  /** The name of a track event. */
  readonly event?: string | undefined
  readonly receivedAt: EpochMs
  /** The destinations to which the configuration routes it now. */
  readonly destinations: readonly string[]
  /** The destinations that do not get it, with the reason, under the current configuration. */
  readonly drops: ReadonlyMap<string, string>
  /**
   * `done`: the dispatchers have processed the event for all destinations. A list: they have
   * processed it for these destinations only. `undefined`: the committed offsets could not be read.
   */
  readonly progress: 'done' | readonly string[] | undefined
  /** Whether retention may have removed attempt records that are as old as this event. */
  readonly isOlderThanAttempts: boolean
}

/** A retry record that waits. */
export interface FoundCopy extends LogPlace {
  readonly at: EpochMs
  readonly state: DeliveryState
  readonly tier: string
  readonly dueAt: EpochMs
}

/** A live dead letter. */
export interface FoundDeadLetter extends LogPlace {
  readonly key: string
  readonly at: EpochMs
  readonly destination: string | undefined
  readonly reason: string
  readonly round: number
}

/** Everything that was found about a message, in any order. */
export interface FoundPieces {
  readonly id: string
  readonly attempts: readonly RecordedAttempt[]
  readonly copies: readonly FoundCopy[]
  readonly deadLetters: readonly FoundDeadLetter[]
  readonly events: readonly FoundEvent[]
  /** Which topics were read as far back as the message can reach. */
  readonly isComplete: { readonly attempts: boolean; readonly copies: boolean; readonly deadLetters: boolean }
  /** Which attempts the dispatchers record now. */
  readonly recorded: RecordedAttempts
  /** All records after this time were searched. */
  readonly searchedSince: EpochMs
  /** Whether something within the requested time was not read. */
  readonly isPartial: boolean
  /** Whether an attempt names an event that retention has removed. */
  readonly isEventRemoved: boolean
}
