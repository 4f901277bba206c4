import type { EpochMs } from '../units.ts'
import type { Message } from './message.ts'

/** What made an event that no SDK sent. */
export interface EventOrigin {
  readonly kind: 'audience' | 'deletion'
  /** The audience's name, or the deletion request's id. */
  readonly id: string
  /** Audience events: the version of the membership this event tells of. */
  readonly version: number | undefined
}

/** A message as it stands on the events topic. */
export interface Event {
  readonly sourceId: string
  /** Set on events meant for one destination only (audiences). */
  readonly destinationId: string | undefined
  readonly receivedAt: EpochMs
  /** Set by our own writers after `normalise`; the dispatcher normalises the others. */
  readonly canonical: boolean
  readonly origin: EventOrigin | undefined
  readonly message: Message
}
