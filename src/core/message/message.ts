import type { EpochMs } from '../time.ts'
import type { JsonText } from './canonical-json-text.ts'

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
