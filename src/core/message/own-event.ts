import type { EpochMs } from '../time.ts'
import type { Event, EventOrigin } from './event.ts'
import type { JsonText } from './json-text.ts'

interface OwnEvent {
  readonly type: 'identify' | 'delete' | 'track'
  readonly messageId: string
  readonly userId?: string
  readonly anonymousId?: string
  readonly event?: string
  readonly sourceId: string
  readonly destinationId?: string
  readonly origin?: EventOrigin
  /** Both the receive time and the timestamp of the message. */
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

/** Source id of audience events. It is reserved and cannot be configured. */
export const audiencesSource = 'hookline.audiences'

/** Source id of canary messages. It is reserved and cannot be configured. */
export const canarySource = 'hookline.canary'

const ownSources: ReadonlySet<string> = new Set([audiencesSource, canarySource])

/** Whether the source id is reserved for events that Hookline creates. */
export const isOwnSource = (sourceId: string): boolean => ownSources.has(sourceId)
