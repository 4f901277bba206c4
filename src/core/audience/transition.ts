import { hash } from 'node:crypto'
import type { Event } from '../message/event.ts'
import { audiencesSource, ownEvent } from '../message/own-event.ts'
import type { EpochMs, JsonText } from '../units.ts'
import type { Emission, Membership } from './membership.ts'
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
export interface InputContext {
  /** Its offset in the partition, and when it was appended. */
  readonly position: number
  readonly at: EpochMs
  /** The clock on the wall, read for each identify: a sync's end may take an hour. */
  readonly now: () => EpochMs
}

/** The same for the same change, whoever sends it and however often; another for any other. */
export const changeId = ({ audience, userId, destination }: MemberKey, { version, value }: Emission): string =>
  `audience-${hash('sha256', JSON.stringify([audience, userId, destination, version, value])).slice(0, 40)}`

/**
 * The identify that tells one destination of one user's change. `at`: when the input that made it was appended, so that a repetition has
 * the same bytes, and a deletion accepted after it stops it.
 */
export function identifyOf(key: MemberKey, property: string, change: Emission, at: EpochMs): Event {
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

/** The value that an identify of `identifyOf` tells of. */
export function valueIn(traits: JsonText | undefined): JsonText {
  const [value = null] = Object.values(JSON.parse(traits ?? '{}') as Record<string, unknown>)
  return JSON.stringify(value) as JsonText
}
