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

/** The source of audience events; known without being configured, and not to be configured. */
export const audiencesSource = 'hookline.audiences'

/** The source of heartbeats; as `audiencesSource`. */
export const canarySource = 'hookline.canary'

const ownSources: ReadonlySet<string> = new Set([audiencesSource, canarySource])

/** Whether only Hookline itself writes events of this source. */
export const isOwnSource = (sourceId: string): boolean => ownSources.has(sourceId)

/** How a change ended, as the dispatcher reports it. */
export const changeResults = ['delivered', 'undelivered'] as const
export type ChangeResult = (typeof changeResults)[number]
