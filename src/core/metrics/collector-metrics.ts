import { counter, gauge, openLabels, tracedHistogram } from './spec.ts'

/** A request is refused when its messages are not acknowledged within 10 s. */
const storeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const { source } = openLabels
const code = { values: '`ok` and the codes of the tracking and operator API', folds: false } as const

/** What comes in over HTTP. */
export const collectorMetrics = {
  collectorAnswers: counter(
    'hookline_collector_answers_total',
    'Everything that the HTTP server of the collector answered, by code, also what is no request for messages.',
    { unit: 'answers', use: 'alert', labels: { code } },
  ),
  operatorAnswers: counter(
    'hookline_operator_answers_total',
    'Answers of the operator API on its own listener, by code; a wrong key is `invalid_operator_key`, a throttled client `rate_limited`.',
    { unit: 'answers', use: 'debug', labels: { code } },
  ),
  collectorMessages: counter(
    'hookline_collector_messages_total',
    'Messages of requests that were answered for good, by what became of them; not those that are to be sent again.',
    { unit: 'messages', use: 'dashboard', labels: { source, result: ['accepted', 'rejected', 'suppressed'] } },
  ),
  collectorStoreSeconds: tracedHistogram(
    'hookline_collector_store_seconds',
    'From handing the messages of a request to the producer to the last acknowledgement.',
    { unit: 'seconds', use: 'dashboard', buckets: storeBuckets },
  ),
  collectorHeldBytes: gauge(
    'hookline_collector_held_bytes',
    'Bodies of requests in progress, those without a known source apart (`keyless`), and records not acknowledged yet.',
    { unit: 'bytes', use: 'dashboard', labels: { what: ['bodies', 'keyless', 'records'] } },
  ),
  collectorHeldBytesLimit: gauge('hookline_collector_held_bytes_limit', 'Beyond it requests are told to come back.', {
    unit: 'bytes',
    use: 'dashboard',
    labels: { what: ['bodies', 'keyless', 'records'] },
  }),
  collectorBodiesRefused: counter(
    'hookline_collector_bodies_refused_total',
    'Request bodies that were refused or evicted: no memory in their share (`budget`), the maximum of their client address (`address`), or too slow (`slow`); and connections beyond the maximum of their address (`connections`).',
    { unit: 'bodies', use: 'debug', labels: { cause: ['budget', 'address', 'slow', 'connections'] } },
  ),
  collectorRejectsLost: counter(
    'hookline_collector_rejects_lost_total',
    'Rejected messages that the rejected topic did not take either; their senders were told.',
    { unit: 'messages', use: 'debug' },
  ),
} as const
