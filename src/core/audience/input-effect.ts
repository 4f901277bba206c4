import type { Event } from '../message/event.ts'
import type { EpochMs } from '../time.ts'
import type { Membership } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'
import type { AudienceWatermark, StaleReason } from './sync-watermark.ts'

/**
 * Why an input is ignored. Each reason is a value of the label `result` of the metric
 * `hookline_audience_inputs_total`.
 */
export type IgnoredReason = StaleReason | 'unknown_audience' | 'user_deleted' | 'suppressed'

/** The effect of an input: a write, the reason why the input is ignored, or a pause. */
export type InputEffect =
  /**
   * A new state of a membership, with the identify message to send, if there is one. The message is
   * written to Kafka first. After Kafka has acknowledged the message, the state is written, so that
   * a crash cannot lose the message. If `state` is `undefined`, a tombstone is written instead of a
   * state.
   */
  | {
      readonly kind: 'membership'
      readonly key: MemberKey
      readonly identify: Event | undefined
      readonly state: Membership | undefined
      /** Offset of the input that caused the state or tombstone. */
      readonly position: number
    }
  /**
   * A new watermark of the audience (which syncs are closed, and the highest version of a change).
   * It is written after Kafka has acknowledged all earlier changes of memberships, and before any
   * later one. Consecutive watermarks must be of different audiences, because they are written
   * concurrently.
   */
  | { readonly kind: 'mark'; readonly audience: string; readonly mark: AudienceWatermark }
  /**
   * The input is ignored. If its full sync is incomplete without this input, a second effect
   * follows: a `mark` with the watermark that cancels the sync.
   */
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }
  /**
   * Nothing to write: `visitsPerTurn` further memberships were visited for the input. The caller
   * must let the event loop run other work before the caller asks for the next effect. For one
   * input, millions of memberships may be visited without a change.
   */
  | { readonly kind: 'visited' }

/**
 * Number of memberships that are visited without a pause. A visit takes less time than the restore
 * of a membership, which takes 4 µs. So other work of the process waits for at most 4 ms.
 */
export const visitsPerTurn = 1_000

/** Where and when Kafka stored the input that is processed, and the current time. */
export interface InputContext {
  /**
   * Offset of the input in its partition, and the time at which Kafka appended the input (`at`).
   */
  readonly position: number
  readonly at: EpochMs
  /**
   * Returns the wall-clock time. The caller calls it for each membership: the end of a sync can
   * change all memberships, which may take an hour, and each change gets its own time.
   */
  readonly now: () => EpochMs
}
