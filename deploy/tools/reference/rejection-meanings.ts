import type { RejectionCode } from '../../../src/core/message/message-rejection.ts'

/** What each code of an error or a rejection means, and what to do. */
export type Meanings<Word extends string> = Readonly<Record<Word, readonly [meaning: string, remedy: string]>>

export const rejectionMeanings: Meanings<RejectionCode> = {
  invalid_json: [
    'This element of the batch is not JSON.',
    'Fix the sender. Common mistakes are `NaN` from Python and an additional comma.',
  ],
  not_an_object: ['The message is a number, a string, a list or null.', 'Send a JSON object.'],
  unknown_type: ['`type` is missing or not a message type.', 'Use identify, track, page, screen, group or alias.'],
  missing_user_id: ['An alias message has no `userId`.', 'Send a `userId`.'],
  missing_previous_id: ['An alias message has no `previousId`.', 'Send a `previousId`.'],
  missing_group_id: ['A group message has no `groupId`.', 'Send a `groupId`.'],
  missing_event: ['A track message has no `event`.', 'Send an `event`.'],
  missing_id: ['The message has neither `userId` nor `anonymousId`.', 'Send one of them.'],
  invalid_timestamp: [
    '`timestamp` is not a valid time in the years 1 to 9999.',
    'Use ISO 8601, or milliseconds since 1970.',
  ],
  message_too_large: [
    'The message has more than 32,768 bytes as compact JSON, or more than 262,144 characters as it was sent.',
    'Send less data in the message, or several messages.',
  ],
  too_many_messages: [
    'The message comes after the first 2,500 messages of its batch.',
    'Send several smaller batches.',
  ],
  too_deep: ['Objects and lists are nested in more than 100 levels.', 'Flatten them.'],
  non_finite_number: ['A number is beyond ±1.8e308.', 'Send a string instead.'],
}
