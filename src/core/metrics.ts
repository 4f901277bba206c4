/*
 * Every metric, declared once: the adapter makes the instruments from this table, the documentation is generated from it.
 * Labels are closed sets or ids from the configuration, never a URL, a user or a message.
 */

interface MetricSpec<Kind extends 'counter' | 'gauge' | 'histogram', Label extends string> {
  readonly kind: Kind
  readonly name: string
  readonly help: string
  readonly labels: readonly Label[]
  /** Histograms: upper bounds in the base unit. */
  readonly buckets?: readonly number[]
}

const counter = <Label extends string = never>(name: string, help: string, labels: readonly Label[] = []) =>
  ({ kind: 'counter', name, help, labels }) as const satisfies MetricSpec<'counter', Label>
const gauge = <Label extends string = never>(name: string, help: string, labels: readonly Label[] = []) =>
  ({ kind: 'gauge', name, help, labels }) as const satisfies MetricSpec<'gauge', Label>
const histogram = <Label extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly Label[] = [],
) => ({ kind: 'histogram', name, help, buckets, labels }) as const satisfies MetricSpec<'histogram', Label>

/** The promise is "within seconds"; the upper end tells a backlog of hours from one of days. */
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 14_400]
/** A call is over after 5 s (A4.1). */
const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5]
/** A request is refused when its messages are not acknowledged within 10 s. */
const storeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export const metricSpecs = {
  webhookCalls: counter('hookline_webhook_calls_total', 'Calls ended, by outcome.', [
    'destination',
    'webhook',
    'outcome',
  ]),
  webhookCallSeconds: histogram('hookline_webhook_call_seconds', 'From the start of a call to its end.', callBuckets),
  webhooksGone: counter('hookline_webhooks_gone_total', 'Calls answered 410: the endpoint says it is gone for good.', [
    'destination',
    'webhook',
  ]),
  deliveries: counter('hookline_deliveries_total', 'Deliveries settled, by what became of them.', [
    'destination',
    'result',
  ]),
  deadLetters: counter('hookline_dead_letters_total', 'Records written to the dead-letter topic.', [
    'destination',
    'reason',
  ]),
  drops: counter('hookline_drops_total', 'Deliveries rightly not made.', ['reason']),
  deferrals: counter('hookline_deferrals_total', 'Deliveries parked without an attempt.', ['cause']),
  firstAttemptDelay: histogram(
    'hookline_first_attempt_delay_seconds',
    'From the append to the events topic to the first attempt.',
    delayBuckets,
  ),
  retryLateness: histogram(
    'hookline_retry_lateness_seconds',
    'How long after its due time a retry was attempted.',
    delayBuckets,
  ),
  breakersOpen: gauge('hookline_breaker_open', '1 while a destination is not attempted because most deliveries fail.', [
    'destination',
  ]),
  callsInFlight: gauge('hookline_calls_in_flight', 'Calls under way.'),
  recordsOpen: gauge('hookline_records_open', 'Records taken up and not yet done.'),
  oldestOpenSeconds: gauge(
    'hookline_oldest_open_record_seconds',
    'Age of the record that has been open longest, since it was taken up.',
  ),
  consumerLag: gauge('hookline_consumer_lag_records', 'Records behind the end of the partition, not yet done.', [
    'topic',
    'partition',
  ]),
  positionsLost: counter(
    'hookline_positions_lost_total',
    'Records skipped because retention removed them or the log was cut.',
    ['topic'],
  ),
  produceFailures: counter('hookline_produce_failures_total', 'Writes to a topic that failed and are tried again.', [
    'topic',
  ]),
  unwritableTopics: gauge(
    'hookline_unwritable_topics',
    'Topics whose last write failed; source offsets wait for them.',
  ),
  configReloads: counter('hookline_config_reloads_total', 'Changed configurations, by what became of them.', [
    'result',
  ]),
  collectorAnswers: counter(
    'hookline_collector_answers_total',
    'Everything that the HTTP server of the collector answered, by code, also what is no request for messages.',
    ['code'],
  ),
  collectorMessages: counter(
    'hookline_collector_messages_total',
    'Messages of requests that were answered for good, by what became of them; not those that are to be sent again.',
    ['source', 'result'],
  ),
  collectorStoreSeconds: histogram(
    'hookline_collector_store_seconds',
    'From handing the messages of a request to the producer to the last acknowledgement.',
    storeBuckets,
  ),
  collectorHeldBytes: gauge(
    'hookline_collector_held_bytes',
    'Bodies of requests under way, and records not acknowledged yet.',
    ['what'],
  ),
  collectorRejectsLost: counter(
    'hookline_collector_rejects_lost_total',
    'Rejected messages that the rejected topic did not take either; their senders were told.',
  ),
  droppedKeys: counter('hookline_dropped_keys_total', 'Keys named __proto__ removed from messages.'),
} as const

type MetricSpecs = typeof metricSpecs
type LabelOf<Spec> = Spec extends { labels: readonly (infer Label)[] } ? (Label extends string ? Label : never) : never
type Instrument<Spec> = Spec extends { kind: 'counter' }
  ? Counter<LabelOf<Spec>>
  : Spec extends { kind: 'gauge' }
    ? Gauge<LabelOf<Spec>>
    : Histogram<LabelOf<Spec>>

export interface Counter<Label extends string = never> {
  inc(labels: Readonly<Record<Label, string>>, by?: number): void
}

export interface Gauge<Label extends string = never> {
  set(labels: Readonly<Record<Label, string>>, value: number): void
}

export interface Histogram<Label extends string = never> {
  /** In the metric's base unit (seconds, bytes, records). */
  observe(labels: Readonly<Record<Label, string>>, value: number): void
}

/** The instruments, one for each entry of the table. */
export type Metrics = { readonly [Key in keyof MetricSpecs]: Instrument<MetricSpecs[Key]> }
