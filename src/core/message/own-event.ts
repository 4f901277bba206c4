import type { EpochMs, JsonText } from '../units.ts'
import type { Event, EventOrigin } from './event.ts'

/** What an event says that no SDK sent. */
interface OwnEvent {
  readonly type: 'identify' | 'delete'
  readonly messageId: string
  readonly userId: string
  readonly sourceId: string
  readonly destinationId?: string
  readonly origin: EventOrigin
  /** When it was received, and when what it tells happened. */
  readonly at: EpochMs
  readonly traits?: JsonText
}

export function ownEvent({ type, messageId, userId, sourceId, destinationId, origin, at, traits }: OwnEvent): Event {
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
      anonymousId: undefined,
      groupId: undefined,
      previousId: undefined,
      event: undefined,
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
