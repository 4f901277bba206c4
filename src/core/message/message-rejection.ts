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

/** `message` names the invalid field and says what to do. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly code: RejectionCode
  readonly message: string
}

export const rejection = (code: RejectionCode, message: string): Rejection => ({ kind: 'rejected', code, message })
