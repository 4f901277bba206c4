import type { EpochMs } from '../time.ts'
import type { JsonText } from './json-text.ts'

/* The glossary (docs/reference/glossary.md) defines the terms of this file. */

/** The message types that SDKs send. */
export const callTypes = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const
/**
 * All message types that are delivered. SDKs cannot send `delete`; only deletion requests create
 * it.
 */
export const messageTypes = [...callTypes, 'delete'] as const

export type CallType = (typeof callTypes)[number]
export type MessageType = (typeof messageTypes)[number]

/**
 * A message after `normalise`. Its free-form parts are canonical JSON. Set every field, even to
 * `undefined`: V8 handles objects of one shape faster.
 */
export interface Message {
  readonly type: MessageType
  readonly messageId: string
  readonly userId: string | undefined
  readonly anonymousId: string | undefined
  readonly groupId: string | undefined
  readonly previousId: string | undefined
  /** The event name of a track message. */
  readonly event: string | undefined
  /** The name of a page or screen. */
  readonly name: string | undefined
  readonly category: string | undefined
  readonly timestamp: EpochMs
  readonly properties: JsonText | undefined
  readonly traits: JsonText | undefined
  readonly context: JsonText | undefined
  /**
   * The `integrations` of the message, its batch and their contexts, merged. They select the
   * destinations.
   */
  readonly integrations: JsonText | undefined
}

/**
 * Why a message is rejected: a code in the collector's response, and in dead letters with the
 * reason `invalid_message`.
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

/** `message` names the wrong field and says what to do. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly code: RejectionCode
  readonly message: string
}

export const rejection = (code: RejectionCode, message: string): Rejection => ({ kind: 'rejected', code, message })
