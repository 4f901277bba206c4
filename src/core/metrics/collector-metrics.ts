import { counter, gauge, openLabels, tracedHistogram } from './declare-metrics.ts'

/**
 * Bucket bounds of `hookline_collector_store_seconds`, in seconds. The collector waits at most 10 s
 * for Kafka.
 */
const storeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const { source } = openLabels
const code = {
  values: '`ok`, `preflight` (collector only) and the error codes of the tracking API and the operator API',
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
    'Received messages, by result. `suppressed`: not stored, because the user was deleted with the option `suppress`. If the collector refuses a whole request, it does not count the messages of the request. There is one exception: if it refuses the request because of the header `X-Strict-Mode`, the invalid messages count as `rejected`.',
    { unit: 'messages', use: 'dashboard', labels: { source, result: ['accepted', 'rejected', 'suppressed'] } },
  ),
  collectorStoreSeconds: tracedHistogram(
    'hookline_collector_store_seconds',
    'Time from when the Kafka producer gets the messages of a request until each of them is acknowledged or has failed.',
    { unit: 'seconds', use: 'dashboard', buckets: storeBuckets },
  ),
  collectorHeldBytes: gauge(
    'hookline_collector_held_bytes',
    'Memory that the collector uses, by content. `bodies`: requests of known sources that have no response yet, the rejected messages of these requests, and long responses that the client has not read. `keyless`: request bodies whose source is not known yet. `records`: accepted messages that Kafka has not acknowledged. `rejected`: rejected messages that are being written to the rejected topic.',
    { unit: 'bytes', use: 'dashboard', labels: { what: ['bodies', 'keyless', 'records', 'rejected'] } },
  ),
  collectorHeldBytesLimit: gauge(
    'hookline_collector_held_bytes_limit',
    'Limit of `hookline_collector_held_bytes`. Above the limits of `bodies`, `keyless` and `records`, the collector refuses requests and sends `Retry-After`. Above the limit of `rejected`, it does not write rejected messages to the topic `<prefix>.rejected`. One source may use at most half of the limit of `bodies`, and three quarters of the limits of `records` and `rejected`. One client address may use at most half of the limit of `keyless`.',
    { unit: 'bytes', use: 'dashboard', labels: { what: ['bodies', 'keyless', 'records', 'rejected'] } },
  ),
  collectorBodiesRefused: counter(
    'hookline_collector_bodies_refused_total',
    'Request bodies that the collector refused, and connections that it refused or closed, by cause. `budget`: no memory is left for the body, or the collector closed a connection whose client had not read its response. `address`: the client address has reached its limit of bytes or of concurrent requests. `slow`: the body arrives too slowly. `connections`: the client address has too many connections, or the process has 4,000 connections; for each new connection, the collector then closes an idle connection or, if none is idle, refuses the new one.',
    { unit: 'bodies', use: 'dashboard', labels: { cause: ['budget', 'address', 'slow', 'connections'] } },
  ),
  collectorRejectsLost: counter(
    'hookline_collector_rejects_lost_total',
    'Rejected messages that were not written to the topic `<prefix>.rejected`: Kafka did not store them, the memory for them was full (see `hookline_collector_held_bytes_limit`), or the request had more than 1,000 of them. Their senders received the rejection in the response.',
    { unit: 'messages', use: 'dashboard' },
  ),
} as const
