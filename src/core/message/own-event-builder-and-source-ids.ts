import type { EpochMs } from '../time.ts'
import type { JsonText } from './canonical-json-text.ts'
import type { Event, EventOrigin } from './event.ts'

interface OwnEvent {
  readonly type: 'identify' | 'delete' | 'track'
  readonly messageId: string
  readonly userId?: string
  readonly anonymousId?: string
  readonly event?: string
  readonly sourceId: string
  readonly destinationId?: string
  readonly origin?: EventOrigin
  /** The timestamp of the message. */
  readonly at: EpochMs
  /**
   * When the message counts as received: a deletion of the user at this time or later stops the
   * message. By default `at`.
   */
  readonly receivedAt?: EpochMs
  readonly properties?: JsonText
  readonly traits?: JsonText
}

export function ownEvent(own: OwnEvent): Event {
  const { type, messageId, userId, anonymousId, event, sourceId, destinationId, origin, properties, traits } = own
  const { at, receivedAt = at } = own
  return {
    sourceId,
    destinationId,
    receivedAt,
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
      properties,
      traits,
      context: undefined,
      integrations: undefined,
    },
  }
}

/** Source id of audience events. It is reserved and cannot be configured. */
export const audiencesSource = 'hookline.audiences'

/** Source id of canary messages. It is reserved. */
export const canarySource = 'hookline.canary'

/** Source id of notices about destinations and the configuration. It is reserved. */
export const operationsSource = 'hookline.operations'

/**
 * Source id of destination facts: internal events about failures and recoveries, from which notices
 * are made. It is reserved.
 */
export const factsSource = 'hookline.facts'

const ownSources: ReadonlySet<string> = new Set([audiencesSource, canarySource, operationsSource, factsSource])

export const isOwnSource = (sourceId: string): boolean => ownSources.has(sourceId)
