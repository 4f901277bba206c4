import { hash } from 'node:crypto'
import { audiencesSource } from '../delivery/route.ts'
import type { Event } from '../message/event.ts'
import { ownEvent } from '../message/own-event.ts'
import type { EpochMs, JsonText } from '../units.ts'
import type { Emission } from './membership.ts'
import type { MemberKey } from './record.ts'

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
