import type { EpochMs, JsonText } from '../units.ts'

/*
 * Words, one per concept:
 * message      an identify, track, page, screen, group, alias or delete call
 * event        a message as a record on the events topic
 * source       something with a write key that sends messages
 * destination  one configured instance of the webhooks destination, connected to sources
 * webhook      one of a destination's at most 5 URLs
 * delivery     one event for one destination
 * attempt      one try at a delivery: up to 5 calls in parallel
 * call         one POST to one webhook
 * outcome      what one call came to
 * decision     what becomes of the delivery
 */

/** The calls that SDKs make (A1.2). */
export const callTypes = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const
/** Everything that is delivered; `delete` is made by deletion requests only, never taken from an SDK. */
export const messageTypes = [...callTypes, 'delete'] as const

export type CallType = (typeof callTypes)[number]
export type MessageType = (typeof messageTypes)[number]

/**
 * A message after `normalise`. Its free-form parts are canonical JSON text, so that a body is built by concatenation;
 * every field is always there (undefined when absent), which keeps the objects of one shape.
 */
export interface Message {
  readonly type: MessageType
  readonly messageId: string
  readonly userId: string | undefined
  readonly anonymousId: string | undefined
  readonly groupId: string | undefined
  readonly previousId: string | undefined
  /** Track: the event name. */
  readonly event: string | undefined
  /** Page and screen. */
  readonly name: string | undefined
  readonly category: string | undefined
  readonly timestamp: EpochMs
  readonly properties: JsonText | undefined
  readonly traits: JsonText | undefined
  readonly context: JsonText | undefined
  /** Which destinations may have the message: the call's own map and `context.integrations`, already merged. */
  readonly integrations: JsonText | undefined
}

/** Why a message is not taken; the codes of the collector's answer and of dead letters with reason `invalid_message`. */
export const rejectionCodes = [
  'invalid_json',
  'not_an_object',
  'unknown_type',
  'missing_user_id',
  'missing_previous_id',
  'missing_group_id',
  'missing_event',
  'missing_id',
  'invalid_timestamp',
  'message_too_large',
  'too_many_messages',
  'too_deep',
  'non_finite_number',
] as const

export type RejectionCode = (typeof rejectionCodes)[number]

/** A message that is not taken: which field is wrong and what to do about it. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly code: RejectionCode
  readonly message: string
}

/** `message` names the field and says what to do. */
export const rejection = (code: RejectionCode, message: string): Rejection => ({ kind: 'rejected', code, message })
