import {
  deadLetterReasons,
  deferralCauses,
  dropReasons,
  failedOutcomes,
  outcomes,
} from '../delivery/outcomes-reasons-and-classification.ts'
import { counter, gauge, histogram, openLabels, tracedHistogram } from './metric-spec-builders.ts'

/**
 * Bucket bounds for the delays of first attempts, retries and canary messages, in seconds. The
 * highest bounds distinguish backlogs of minutes and hours.
 */
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 14_400]
/**
 * Bucket bounds of `hookline_webhook_call_seconds`, in seconds. A request times out after at most 5
 * s.
 */
const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5]

/**
 * Bucket bounds of `hookline_retried_delivery_seconds`, in seconds, up to the longest retry window,
 * 4 h.
 */
const recoveryBuckets = [1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400]

const { destination, webhook, tier } = openLabels

const tokenOutcomes = ['issued', ...failedOutcomes] as const

/** Metrics of deliveries and of the requests to webhooks. */
export const deliveryMetrics = {
  webhookCalls: counter('hookline_webhook_calls_total', 'Finished requests to webhooks, by outcome.', {
    unit: 'requests',
    use: 'alert',
    labels: { destination, webhook, outcome: outcomes },
  }),
  webhookCallSeconds: tracedHistogram(
    'hookline_webhook_call_seconds',
    'Duration of a request to a webhook. With `auth.oauth2`, it includes the wait for an access token.',
    {
      unit: 'seconds',
      use: 'dashboard',
      buckets: callBuckets,
    },
  ),
  tokenRequests: counter(
    'hookline_token_requests_total',
    'Finished requests for access tokens (`auth.oauth2`), by outcome. `issued`: the authorization server responded with a token. The other outcomes have the same meaning as for requests to webhooks.',
    { unit: 'requests', use: 'dashboard', labels: { destination, outcome: tokenOutcomes } },
  ),
  webhooksGone: counter(
    'hookline_webhooks_gone_total',
    'Requests to which the endpoint responded with 410 Gone, which means that the endpoint was removed permanently.',
    { unit: 'requests', use: 'alert', labels: { destination, webhook } },
  ),
  deliveries: counter(
    'hookline_deliveries_total',
    'Decisions about deliveries, by result. A delivery that succeeds after two retries counts twice as `retried` and once as `delivered`. Records that Hookline drops or dead-letters before it creates deliveries are not counted.',
    {
      unit: 'decisions',
      use: 'dashboard',
      labels: { destination, result: ['delivered', 'retried', 'deferred', 'dead_lettered', 'dropped'] },
    },
  ),
  ledgerGaps: counter(
    'hookline_ledger_gaps_total',
    'Number of times that this process discarded the delivery counts of a partition, because it could not write them to the ledger topic in time. The ledger (the numbers of deliveries by hour) is then incomplete for the current hour and all earlier hours.',
    { unit: 'times', use: 'alert' },
  ),
  ledgerDifference: gauge(
    'hookline_ledger_difference',
    'Number of deliveries of the last 24 hours that have no result and do not wait in a retry topic. If the value is not 0, deliveries were lost, or Hookline has a bug. The operator service calculates the value every five minutes.',
    { unit: 'deliveries', use: 'alert' },
  ),
  ledgerReadAt: gauge(
    'hookline_ledger_read_timestamp_seconds',
    'Time of the last successful reading of the ledger (the numbers of deliveries by hour). The operator service reads the ledger every five minutes. Before the first success: the start time of the service.',
    { unit: 'Unix time', use: 'alert' },
  ),
  deadLetters: counter(
    'hookline_dead_letters_total',
    'Records written to the dead-letter topic, by destination and reason. The destination is `-` if it is unknown, for example because the record cannot be decoded.',
    { unit: 'records', use: 'alert', labels: { destination, reason: deadLetterReasons } },
  ),
  truncatedDeadLetters: counter(
    'hookline_truncated_dead_letters_total',
    'Dead letters that Hookline truncated to the first 64 KiB of the record or Kafka batch, and therefore cannot replay. The record was too large for the dead-letter topic, or Hookline could not read the batch.',
    { unit: 'records', use: 'debug', labels: { reason: deadLetterReasons } },
  ),
  recordFailures: counter(
    'hookline_record_failures_total',
    'Records that Hookline could not process because of an internal error. Hookline dead-letters them with the reason `undecodable`.',
    { unit: 'records', use: 'alert' },
  ),
  drops: counter(
    'hookline_drops_total',
    'Deliveries that Hookline intentionally did not make, by reason: for example, the destination is disabled (`disabled`), or its filter excludes the message (`filtered`). docs/reference/errors.md explains all reasons.',
    {
      unit: 'deliveries',
      use: 'dashboard',
      labels: { reason: dropReasons },
    },
  ),
  deferrals: counter(
    'hookline_deferrals_total',
    'Deliveries that Hookline moved to a retry topic without a request to a webhook, by cause: for example, the queue of the destination is too long (`lane_full`), its circuit breaker is open (`breaker_open`), or Hookline has no valid access token (`auth`). docs/reference/errors.md explains all causes.',
    { unit: 'deliveries', use: 'dashboard', labels: { cause: deferralCauses } },
  ),
  firstAttemptDelay: tracedHistogram(
    'hookline_first_attempt_delay_seconds',
    'Time from when an event is appended to the events topic until its first attempt, including deferrals. Replayed and resent events are not counted.',
    { unit: 'seconds', use: 'alert', buckets: delayBuckets },
  ),
  retryLateness: histogram('hookline_retry_lateness_seconds', 'Time from when a retry is due until its attempt.', {
    unit: 'seconds',
    use: 'dashboard',
    buckets: delayBuckets,
  }),
  retriedDelivery: histogram(
    'hookline_retried_delivery_seconds',
    'Time from when an event is appended to the events topic until it is delivered, for deliveries that needed more than one attempt. Replayed and resent events are not counted.',
    { unit: 'seconds', use: 'dashboard', buckets: recoveryBuckets },
  ),
  parked: counter(
    'hookline_parked_total',
    'Deliveries written to a retry topic: retries after failed attempts, and deferrals (`hookline_deferrals_total`).',
    { unit: 'deliveries', use: 'dashboard', labels: { tier } },
  ),
  breakersOpen: gauge(
    'hookline_breaker_open',
    '1 while the circuit breaker of the destination is open in this process, 0 while it is closed. A destination has no series before its circuit breaker opens for the first time, or while the destination is disabled, paused or removed.',
    {
      unit: 'state',
      use: 'dashboard',
      labels: { destination },
    },
  ),
  destinationPace: gauge(
    'hookline_destination_pace',
    'Current limit of attempts per second of this process to a destination that has responded with 429. Destinations without a 429 in the last ten minutes have no limit and no series.',
    { unit: 'attempts per second', use: 'dashboard', labels: { destination } },
  ),
  destinationPaused: gauge(
    'hookline_destination_paused_seconds',
    'Remaining time of the pause after a response with 429 or `Retry-After`. During the pause, this process makes no attempts at the destination. Destinations without a pause have no series. A pause by an operator does not count.',
    { unit: 'seconds', use: 'dashboard', labels: { destination } },
  ),
  callsInFlight: gauge('hookline_calls_in_flight', 'Number of requests to webhooks in progress in this process.', {
    unit: 'requests',
    use: 'alert',
  }),
  callsInFlightLimit: gauge(
    'hookline_calls_in_flight_limit',
    'Maximum number of concurrent requests to webhooks in this process (`delivery.maxInFlight`).',
    {
      unit: 'requests',
      use: 'alert',
    },
  ),
  destinations: gauge(
    'hookline_destinations',
    'Destinations in the configuration, by state. `paused` includes destinations that Hookline cannot use, because their configuration is invalid.',
    {
      unit: 'destinations',
      use: 'dashboard',
      labels: { state: ['enabled', 'paused', 'disabled'] },
    },
  ),
  canarySent: counter(
    'hookline_canary_sent_total',
    'Canary messages that this process tried to append to the events topic. Canary messages are test messages that Hookline sends to one destination.',
    { unit: 'messages', use: 'alert' },
  ),
  canaryReceived: counter(
    'hookline_canary_received_total',
    'Canary messages that the endpoint of their destination accepted.',
    {
      unit: 'messages',
      use: 'alert',
    },
  ),
  canaryLost: counter(
    'hookline_canary_lost_total',
    'Canary messages that will not be delivered, by reason. `not_stored`: Kafka did not acknowledge the message. A message that still waits, for example for a retry, is not counted.',
    { unit: 'messages', use: 'dashboard', labels: { reason: ['not_stored', 'dead_lettered', 'dropped'] } },
  ),
  canarySeconds: histogram(
    'hookline_canary_seconds',
    'Time from when a canary message is appended to the events topic until its delivery, including retries. Replayed messages are not counted.',
    { unit: 'seconds', use: 'dashboard', buckets: delayBuckets },
  ),
  notices: counter(
    'hookline_notices_total',
    'Notices and the internal messages that lead to notices, by result of the write to the events topic. Notices are messages to operators about destinations and the configuration. `dropped`: not written, because too many messages already waited for the write.',
    { unit: 'messages', use: 'dashboard', labels: { result: ['written', 'dropped'] } },
  ),
  attemptRecords: counter(
    'hookline_attempt_records_total',
    'Records for the attempts topic, by result of the write. `dropped`: the write queue was full. `failed`: Kafka did not acknowledge the record.',
    { unit: 'records', use: 'dashboard', labels: { result: ['written', 'dropped', 'failed'] } },
  ),
  droppedKeys: counter(
    'hookline_dropped_keys_total',
    'Keys named `__proto__` that Hookline removed from messages before it delivered them.',
    {
      unit: 'keys',
      use: 'debug',
    },
  ),
} as const
