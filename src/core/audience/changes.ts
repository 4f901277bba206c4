import { hash } from 'node:crypto'
import type { Event } from '../message/event.ts'
import { audiencesSource, ownEvent } from '../message/own-event.ts'
import type { EpochMs, JsonText } from '../units.ts'
import type { Membership, MembershipUpdate } from './membership.ts'
import type { MemberKey } from './record.ts'
import type { AudienceWatermark, StaleReason } from './sync-watermark.ts'

/** Why an input is ignored; a label of the metric. */
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
   * Written alone: after all earlier changes are acknowledged, and before any later change is
   * written.
   */
  | { readonly kind: 'mark'; readonly audience: string; readonly mark: AudienceWatermark }
  /**
   * The input is ignored. This is always the first change of its input. A change after it only
   * cancels the sync that lost the input.
   */
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }

/** Context of an input. */
export interface InputContext {
  /** Offset in the partition, and the time at which Kafka appended it (`at`). */
  readonly position: number
  readonly at: EpochMs
  /** Wall-clock time, read for each identify message because the end of a sync may take an hour. */
  readonly now: () => EpochMs
}

/**
 * The message id of a change. Every process computes the same id for the same change, and different
 * changes have different ids.
 */
export const changeId = ({ audience, userId, destination }: MemberKey, { version, value }: MembershipUpdate): string =>
  `audience-${hash('sha256', JSON.stringify([audience, userId, destination, version, value])).slice(0, 40)}`

/**
 * Builds the identify message that sends one user's change to one destination.
 * @param at when the input was appended. A repeated message thus has the same bytes, and a deletion
 *   after the input suppresses the message.
 */
export function identifyOf(key: MemberKey, property: string, change: MembershipUpdate, at: EpochMs): Event {
  return ownEvent({
    type: 'identify',
    messageId: changeId(key, change),
    userId: key.userId,
    sourceId: audiencesSource,
    destinationId: key.destination,
    origin: { kind: 'audience', id: key.audience, version: change.version },
    at,
    traits: `{${JSON.stringify(property)}:${change.value}}` as JsonText,
  })
}

/** Reads the value from the traits of a message of `identifyOf`. */
export function valueIn(traits: JsonText | undefined): JsonText {
  const [value = null] = Object.values(JSON.parse(traits ?? '{}') as Record<string, unknown>)
  return JSON.stringify(value) as JsonText
}
