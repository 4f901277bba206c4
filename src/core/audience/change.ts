import type { Event } from '../message/event.ts'
import type { EpochMs } from '../time.ts'
import type { Membership } from './membership.ts'
import type { MemberKey } from './membership-record.ts'
import type { AudienceWatermark, StaleReason } from './sync-watermark.ts'

/** Why an input is ignored: a value of the label `result` of `hookline_audience_inputs_total`. */
export type IgnoredReason = StaleReason | 'unknown_audience' | 'user_deleted' | 'suppressed'

/** What follows from an input: a write, or the reason why the input is ignored. */
export type Change =
  /**
   * The identify message is written first, if there is one. When Kafka has acknowledged it, the
   * state is written, or a tombstone when `state` is `undefined`.
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
   * The watermark of the audience is written when all earlier changes are acknowledged, and before
   * any later change.
   */
  | { readonly kind: 'mark'; readonly audience: string; readonly mark: AudienceWatermark }
  /**
   * The input is ignored. A second change may follow: a watermark that cancels the input's sync.
   */
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }

/** Context of an input. */
export interface InputContext {
  /**
   * Offset of the input in its partition, and the time at which Kafka appended the input (`at`).
   */
  readonly position: number
  readonly at: EpochMs
  /**
   * Returns the wall-clock time. It is called for each membership, because one input, the end of a
   * sync, can change all memberships, which may take an hour.
   */
  readonly now: () => EpochMs
}
