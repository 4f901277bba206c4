import type { EpochMs, JsonText } from '../units.ts'

/*
 * Terms:
 * message      an identify, track, page, screen, group, alias or delete call of an SDK
 * event        a message in the form of a record of the events topic
 * source       an application with a write key that sends messages
 * destination  a configured receiver, connected to sources
 * webhook      one of the up to five URLs of a destination
 * delivery     the delivery of one event to one destination
 * attempt      one try at a delivery: one concurrent request to each webhook
 * request      one POST to one webhook; metrics and settings name it "call"
 * outcome      the result of one request
 * decision     the next step of the delivery after an attempt
 */

/** The message types that SDKs send. */
export const callTypes = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const
/**
 * All message types that are delivered. Only deletion requests create `delete`; an SDK cannot send
 * it.
 */
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

/**
 * Why a message is rejected. The collector's response and dead letters with the reason
 * `invalid_message` use these codes.
 */
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

/** The rejection of a message. `message` names the wrong field and says what to do. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly code: RejectionCode
  readonly message: string
}

export const rejection = (code: RejectionCode, message: string): Rejection => ({ kind: 'rejected', code, message })
