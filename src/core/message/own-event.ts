import type { EpochMs, JsonText } from '../units.ts'
import type { Event, EventOrigin } from './event.ts'

/** What an event says that no SDK sent. */
interface OwnEvent {
  readonly type: 'identify' | 'delete' | 'track'
  readonly messageId: string
  readonly userId?: string
  readonly anonymousId?: string
  readonly event?: string
  readonly sourceId: string
  readonly destinationId?: string
  readonly origin?: EventOrigin
  /** When it was received, and when what it tells happened. */
  readonly at: EpochMs
  readonly traits?: JsonText
}

export function ownEvent(own: OwnEvent): Event {
  const { type, messageId, userId, anonymousId, event, sourceId, destinationId, origin, at, traits } = own
  return {
    sourceId,
    destinationId,
    receivedAt: at,
    canonical: true,
    origin,
    message: {
      type,
      messageId,
      userId,
      anonymousId,
      groupId: undefined,
      previousId: undefined,
      event,
      name: undefined,
      category: undefined,
      timestamp: at,
      properties: undefined,
      traits,
      context: undefined,
      integrations: undefined,
    },
  }
}
