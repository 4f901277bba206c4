import { counter, gauge, openLabels, tracedHistogram } from './metric-spec-builders.ts'

/**
 * Bucket bounds of `hookline_collector_store_seconds`, in seconds. The collector waits at most 10 s
 * for Kafka.
 */
const storeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const { source } = openLabels
const code = {
  values: '`ok`, `preflight` (only in `hookline_collector_answers_total`), or the code of the error',
  canOverflow: false,
} as const

/** Metrics of the collector and the operator API. */
export const collectorMetrics = {
  collectorAnswers: counter(
    'hookline_collector_answers_total',
    'Responses of the collector for all paths, by code. `ok`: a success. `preflight`: the response to a CORS preflight request of a browser. Any other value: the code of the error.',
    { unit: 'responses', use: 'alert', labels: { code } },
  ),
  operatorAnswers: counter(
    'hookline_operator_answers_total',
    'Responses of the operator API, by code. `ok`: a success. Any other value: the code of the error, for example `invalid_operator_key` for a wrong key.',
    { unit: 'responses', use: 'dashboard', labels: { code } },
  ),
  collectorMessages: counter(
    'hookline_collector_messages_total',
    'Received messages, by result. `suppressed`: not stored, because the user was deleted with the option `suppress`. If the collector refuses a whole request, its messages are not counted. Exception: if the request has the header `X-Strict-Mode`, its invalid messages are counted.',
    { unit: 'messages', use: 'dashboard', labels: { source, result: ['accepted', 'rejected', 'suppressed'] } },
  ),
  collectorStoreSeconds: tracedHistogram(
    'hookline_collector_store_seconds',
    'Time that the Kafka producer takes for the messages of one request, until each message is acknowledged or has failed.',
    { unit: 'seconds', use: 'dashboard', buckets: storeBuckets },
  ),
  collectorHeldBytes: gauge(
    'hookline_collector_held_bytes',
    'Memory that the collector uses, by content. `bodies`: requests that the collector has not responded to, and responses that the client has not read. `keyless`: request bodies whose source is not known yet. `records`: accepted messages that Kafka has not acknowledged. `rejected`: messages that are being written to the rejected topic.',
    { unit: 'bytes', use: 'dashboard', labels: { what: ['bodies', 'keyless', 'records', 'rejected'] } },
  ),
  collectorHeldBytesLimit: gauge(
    'hookline_collector_held_bytes_limit',
    'Limit of `hookline_collector_held_bytes`, by content. Above the limit for `rejected`, the collector does not write rejected messages to the topic `<prefix>.rejected`. Above any other limit, the collector refuses requests and sends `Retry-After`.',
    { unit: 'bytes', use: 'dashboard', labels: { what: ['bodies', 'keyless', 'records', 'rejected'] } },
  ),
  collectorBodiesRefused: counter(
    'hookline_collector_bodies_refused_total',
    'Request bodies and connections that the collector refused or closed, by cause. `budget`: the memory is full, or the client did not read its response. `address`: the client address has reached its limit of bytes or concurrent requests. `slow`: the body arrived too slowly. `connections`: the client address or the process has too many connections.',
    { unit: 'bodies', use: 'dashboard', labels: { cause: ['budget', 'address', 'slow', 'connections'] } },
  ),
  collectorRejectsLost: counter(
    'hookline_collector_rejects_lost_total',
    'Rejected messages that the collector did not write to the topic `<prefix>.rejected`: Kafka did not store them, the memory for them was full, or the request had more than 1,000 of them. The senders received the rejection in the response.',
    { unit: 'messages', use: 'dashboard' },
  ),
} as const
