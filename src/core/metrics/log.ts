import { counter, gauge, openLabels } from './spec.ts'

const { topic, partition } = openLabels

/** What is read from Kafka and written to it. */
export const logMetrics = {
  recordsOpen: gauge('hookline_records_open', 'Records taken up and not yet done.', {
    unit: 'records',
    use: 'dashboard',
  }),
  oldestOpenSeconds: gauge(
    'hookline_oldest_open_record_seconds',
    'Age of the record that has been open longest, since it was taken up.',
    { unit: 'seconds', use: 'dashboard' },
  ),
  consumerLag: gauge('hookline_consumer_lag_records', 'Records behind the end of the partition, not yet done.', {
    unit: 'records',
    use: 'dashboard',
    labels: { topic, partition },
  }),
  positionsLost: counter(
    'hookline_positions_lost_total',
    'Records skipped because retention removed them or the log was cut.',
    { unit: 'records', use: 'alert', labels: { topic } },
  ),
  produceFailures: counter('hookline_produce_failures_total', 'Writes to a topic that failed and are tried again.', {
    unit: 'writes',
    use: 'dashboard',
    labels: { topic },
  }),
  unwritableTopics: gauge(
    'hookline_unwritable_topics',
    'Topics whose last write failed; source offsets wait for them.',
    { unit: 'topics', use: 'alert' },
  ),
} as const
