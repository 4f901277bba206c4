import { deadLetterReasons, deferralCauses, dropReasons, outcomes } from '../delivery/outcome.ts'
import { counter, gauge, histogram, openLabels, tracedHistogram } from './spec.ts'

/** The promise is "within seconds"; the upper end tells a backlog of hours from one of days. */
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 14_400]
/** A call is over after 5 s (A4.1). */
const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5]

/** From the shortest wait of the schedule to the end of the window (A4). */
const recoveryBuckets = [1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400]

const { destination, webhook, tier } = openLabels

/** What becomes of deliveries, and the calls that are made for them. */
export const deliveryMetrics = {
  webhookCalls: counter('hookline_webhook_calls_total', 'Calls ended, by outcome.', {
    unit: 'calls',
    use: 'alert',
    labels: { destination, webhook, outcome: outcomes },
  }),
  webhookCallSeconds: tracedHistogram('hookline_webhook_call_seconds', 'From the start of a call to its end.', {
    unit: 'seconds',
    use: 'dashboard',
    buckets: callBuckets,
  }),
  webhooksGone: counter('hookline_webhooks_gone_total', 'Calls answered 410: the endpoint says it is gone for good.', {
    unit: 'calls',
    use: 'alert',
    labels: { destination, webhook },
  }),
  deliveries: counter('hookline_deliveries_total', 'Deliveries settled, by what became of them.', {
    unit: 'deliveries',
    use: 'dashboard',
    labels: { destination, result: ['delivered', 'retried', 'deferred', 'dead_lettered', 'dropped'] },
  }),
  deadLetters: counter(
    'hookline_dead_letters_total',
    'Records written to the dead-letter topic; destination `-` where none could be made out.',
    { unit: 'records', use: 'alert', labels: { destination, reason: deadLetterReasons } },
  ),
  truncatedDeadLetters: counter(
    'hookline_truncated_dead_letters_total',
    'Dead letters of which only the first 64 KiB were written, because the topic takes no more.',
    { unit: 'records', use: 'debug', labels: { reason: deadLetterReasons } },
  ),
  recordFailures: counter(
    'hookline_record_failures_total',
    'Records that Hookline could not handle because of an error of its own; they are in the dead-letter topic as undecodable.',
    { unit: 'records', use: 'alert' },
  ),
  drops: counter('hookline_drops_total', 'Deliveries rightly not made.', {
    unit: 'deliveries',
    use: 'dashboard',
    labels: { reason: dropReasons },
  }),
  deferrals: counter('hookline_deferrals_total', 'Deliveries parked without an attempt.', {
    unit: 'deliveries',
    use: 'dashboard',
    labels: { cause: deferralCauses },
  }),
  firstAttemptDelay: tracedHistogram(
    'hookline_first_attempt_delay_seconds',
    'From the append to the events topic to the first attempt.',
    { unit: 'seconds', use: 'alert', buckets: delayBuckets },
  ),
  retryLateness: histogram('hookline_retry_lateness_seconds', 'How long after its due time a retry was attempted.', {
    unit: 'seconds',
    use: 'dashboard',
    buckets: delayBuckets,
  }),
  retriedDelivery: histogram(
    'hookline_retried_delivery_seconds',
    'From the append to the events topic to the delivery, where the first attempt did not do it.',
    { unit: 'seconds', use: 'dashboard', buckets: recoveryBuckets },
  ),
  parked: counter('hookline_parked_total', 'Deliveries written to a retry topic, after an attempt or without one.', {
    unit: 'deliveries',
    use: 'dashboard',
    labels: { tier },
  }),
  breakersOpen: gauge('hookline_breaker_open', '1 while a destination is not attempted because most deliveries fail.', {
    unit: 'state',
    use: 'dashboard',
    labels: { destination },
  }),
  callsInFlight: gauge('hookline_calls_in_flight', 'Calls under way.', { unit: 'calls', use: 'alert' }),
  callsInFlightLimit: gauge('hookline_calls_in_flight_limit', 'Calls that may be under way at once.', {
    unit: 'calls',
    use: 'alert',
  }),
  destinations: gauge('hookline_destinations', 'Destinations in the configuration.', {
    unit: 'destinations',
    use: 'dashboard',
    labels: { state: ['enabled', 'paused', 'disabled'] },
  }),
  canarySent: counter('hookline_canary_sent_total', 'Heartbeats appended to the events topic, or meant to be.', {
    unit: 'heartbeats',
    use: 'alert',
  }),
  canaryReceived: counter(
    'hookline_canary_received_total',
    'Heartbeats that their endpoint has answered with a success.',
    {
      unit: 'heartbeats',
      use: 'alert',
    },
  ),
  canaryLost: counter(
    'hookline_canary_lost_total',
    'Heartbeats that will not arrive. One that vanishes is not in it: it is sent, and neither received nor lost.',
    { unit: 'heartbeats', use: 'debug', labels: { reason: ['not_stored', 'dead_lettered', 'dropped'] } },
  ),
  canarySeconds: histogram(
    'hookline_canary_seconds',
    'From the append of a heartbeat to its delivery, retries included.',
    { unit: 'seconds', use: 'debug', buckets: delayBuckets },
  ),
  attemptRecords: counter(
    'hookline_attempt_records_total',
    'Records about attempts, for whoever watches; dropped: too many waited to be written.',
    { unit: 'records', use: 'debug', labels: { result: ['written', 'dropped', 'failed'] } },
  ),
  droppedKeys: counter('hookline_dropped_keys_total', 'Keys named __proto__ removed from messages.', {
    unit: 'keys',
    use: 'debug',
  }),
} as const
