/** Outcomes of a call after which the same webhook is tried again. */
export const retryableOutcomes = [
  'http_408',
  'http_429',
  'http_5xx',
  'timeout',
  'dns',
  'connect',
  'reset',
  'tls_other',
  'bad_response',
  'internal',
] as const

/** Outcomes of a call after which the same webhook is not tried again. */
export const refusedOutcomes = ['http_3xx', 'http_4xx', 'tls_untrusted', 'blocked_address'] as const

export type RetryableOutcome = (typeof retryableOutcomes)[number]
export type RefusedOutcome = (typeof refusedOutcomes)[number]
/** What one call came to: the metric label, the log field and the header value. */
export type Outcome = 'delivered' | RetryableOutcome | RefusedOutcome

/** Why a record stands in the dead-letter topic. */
export const deadLetterReasons = [
  ...refusedOutcomes,
  'retries_exhausted',
  'retry_window_over',
  'retry_after_exceeds_window',
  'undecodable',
  'invalid_message',
  'unknown_source',
  'unknown_destination',
] as const
export type DeadLetterReason = (typeof deadLetterReasons)[number]

/** Why an event is not delivered to a destination, rightly: counted, logged at debug, never an error. */
export const dropReasons = ['disabled', 'not_selected', 'no_destination', 'user_deleted', 'suppressed'] as const
export type DropReason = (typeof dropReasons)[number]

/** Why a delivery waits in a retry tier without having been attempted. */
export const deferralCauses = ['lane_full', 'breaker_open', 'not_before', 'paused'] as const
export type DeferralCause = (typeof deferralCauses)[number]
