import type { RejectionCode } from '../../../src/core/message/message.ts'

/** What a word means, and what whoever meets it does. */
export type Meanings<Word extends string> = Readonly<Record<Word, readonly [meaning: string, remedy: string]>>

export const ofRejections: Meanings<RejectionCode> = {
  invalid_json: ['This element of the batch is not JSON.', 'Python’s `NaN`, a stray comma.'],
  not_an_object: ['A number, a text, null or a list where a message should be.', ''],
  unknown_type: ['`type` is no call.', 'identify, track, page, screen, group, alias.'],
  missing_user_id: ['alias without `userId`.', ''],
  missing_previous_id: ['alias without `previousId`.', ''],
  missing_group_id: ['group without `groupId`.', ''],
  missing_event: ['track without `event`.', ''],
  missing_id: ['Neither `userId` nor `anonymousId`.', ''],
  invalid_timestamp: ['`timestamp` is no time in the years 1 to 9999.', 'ISO 8601, or milliseconds since 1970.'],
  message_too_large: ['Over 32,768 bytes of compact JSON.', ''],
  too_many_messages: ['Beyond the first 2,500 of a batch.', 'Send it in several.'],
  too_deep: ['Over 100 levels.', ''],
  non_finite_number: ['Beyond ±1.8e308.', ''],
}
