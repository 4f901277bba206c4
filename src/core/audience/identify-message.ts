import { hash } from 'node:crypto'
import type { JsonText } from '../message/canonical-json-text.ts'
import type { Event } from '../message/event.ts'
import { audiencesSource, ownEvent } from '../message/own-event-builder-and-source-ids.ts'
import type { EpochMs } from '../time.ts'
import type { MembershipUpdate } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'

/** The message id of a change: every process computes the same id for the same change. */
export const changeId = ({ audience, userId, destination }: MemberKey, { version, value }: MembershipUpdate): string =>
  `audience-${hash('sha256', JSON.stringify([audience, userId, destination, version, value])).slice(0, 40)}`

/**
 * @param at append time of the input, so that a message that is built again has the same bytes
 * @param receivedAt receive time of the message, default `at`: a deletion of the user at this time
 *   or later stops the message
 */
export function identifyOf(
  key: MemberKey,
  property: string,
  change: MembershipUpdate,
  at: EpochMs,
  receivedAt = at,
): Event {
  return ownEvent({
    type: 'identify',
    messageId: changeId(key, change),
    userId: key.userId,
    sourceId: audiencesSource,
    destinationId: key.destination,
    origin: { kind: 'audience', id: key.audience, version: change.version },
    at,
    receivedAt,
    traits: `{${JSON.stringify(property)}:${change.value}}` as JsonText,
  })
}

/** Reads the user's value from the traits of `identifyOf`. */
export function valueIn(traits: JsonText | undefined): JsonText {
  const [value = null] = Object.values(JSON.parse(traits ?? '{}') as Record<string, unknown>)
  return JSON.stringify(value) as JsonText
}
