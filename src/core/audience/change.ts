import type { Event } from '../message/event.ts'
import type { EpochMs } from '../units.ts'
import type { Membership } from './membership.ts'
import type { MemberKey } from './record.ts'
import type { AudienceMark, StaleReason } from './sync.ts'

/** Why an input changes nothing: the metric's label. */
export type IgnoredReason = StaleReason | 'unknown_audience' | 'user_deleted' | 'suppressed'

/** What is to be written because of an input. */
export type Change =
  /** First the identify, if there is one, and when that is acknowledged the state; none: a tombstone. */
  | {
      readonly kind: 'membership'
      readonly key: MemberKey
      readonly identify: Event | undefined
      readonly state: Membership | undefined
      /** Offset of the input that the state, or the tombstone, is of. */
      readonly position: number
    }
  /** Only when all before it is acknowledged, and nothing after it before it is. */
  | { readonly kind: 'mark'; readonly audience: string; readonly mark: AudienceMark }
  /** First, if at all: the input itself says nothing. What follows is written because it does not. */
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }

/** What comes with an input. */
export interface Occasion {
  /** Its offset in the partition, and when it was appended. */
  readonly position: number
  readonly at: EpochMs
  /** The clock on the wall, read for each identify: a sync's end may take an hour. */
  readonly now: () => EpochMs
}
