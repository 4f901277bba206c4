import type { Event } from '../message/event.ts'
import type { EpochMs } from '../time.ts'
import type { AudienceWatermark, StaleReason } from './audience-watermark.ts'
import type { Membership } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'

/**
 * Why an input is ignored: a value of the label `result` of the metric
 * `hookline_audience_inputs_total`.
 */
export type IgnoredReason = StaleReason | 'unknown_audience' | 'user_deleted' | 'suppressed'

/** The effect of an input: a write, the reason why the input is ignored, or a pause. */
export type InputEffect =
  /**
   * A changed membership. `identify` is acknowledged before `state` is written, so that a crash
   * cannot lose the identify message. `state` is `undefined` for a tombstone.
   */
  | {
      readonly kind: 'membership'
      readonly key: MemberKey
      readonly identify: Event | undefined
      readonly state: Membership | undefined
      /** Offset of the input that caused the change. */
      readonly position: number
    }
  /**
   * A watermark, written after all earlier changes of memberships are acknowledged, and before
   * later changes. Consecutive watermarks must be of different audiences, because they are written
   * concurrently.
   */
  | { readonly kind: 'watermark'; readonly audience: string; readonly watermark: AudienceWatermark }
  /**
   * The input is ignored. If this makes a full sync incomplete, the next effect is a `watermark`
   * that cancels the sync.
   */
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }
  /**
   * `visitsPerTurn` memberships were visited without a change. The caller must let the event loop
   * run other work.
   */
  | { readonly kind: 'visited' }

/** Number of memberships that are visited without a pause. This takes at most 4 ms. */
export const visitsPerTurn = 1_000

/** Where and when Kafka stored the input, and the current time. */
export interface InputContext {
  /** Offset of the input in its partition, and its append time (`at`). */
  readonly position: number
  readonly at: EpochMs
  /** The wall-clock time. A function, because the end of a sync can take an hour to process. */
  readonly now: () => EpochMs
}
