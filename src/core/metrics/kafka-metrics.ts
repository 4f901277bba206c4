import { counter, gauge, openLabels } from './spec.ts'

const { topic, partition, tier } = openLabels
/** The consumer groups, by what they read: the events topic, the retry topics, or the audience-input topic. */
const group = ['dispatcher', 'retries', 'audiences'] as const
export type ConsumerGroupLabel = (typeof group)[number]

/** What is read from Kafka and written to it. */
export const logMetrics = {
  recordsConsumed: counter('hookline_records_consumed_total', 'Records taken up.', {
    unit: 'records',
    use: 'dashboard',
    labels: { group },
  }),
  recordsFinished: counter(
    'hookline_records_finished_total',
    'Records that are no longer open: everything that they led to has ended, or their partition is another process’s and so are they.',
    { unit: 'records', use: 'dashboard', labels: { group, end: ['done', 'handed_back'] } },
  ),
  recordsOpen: gauge('hookline_records_open', 'Records taken up and not yet done.', {
    unit: 'records',
    use: 'dashboard',
  }),
  oldestOpenSeconds: gauge(
    'hookline_oldest_open_record_seconds',
    'Age of the record that has been open longest, since it was taken up.',
    { unit: 'seconds', use: 'dashboard' },
  ),
  oldestRecord: gauge(
    'hookline_oldest_open_record_timestamp_seconds',
    'When the oldest record that is taken up and not done was appended; the present while there is none.',
    { unit: 'Unix time', use: 'alert', labels: { topic } },
  ),
  oldestDueRetry: gauge(
    'hookline_oldest_due_retry_timestamp_seconds',
    'When the retry was due that has waited longest beyond its time; the present while there is none. Those not yet due do not count.',
    { unit: 'Unix time', use: 'alert', labels: { tier } },
  ),
  partitionProgress: gauge(
    'hookline_partition_last_progress_timestamp_seconds',
    'When the partition was last seen to move, or to have nothing that is due.',
    { unit: 'Unix time', use: 'alert', labels: { topic, partition } },
  ),
  assignedPartitions: gauge('hookline_assigned_partitions', 'Partitions that this process has.', {
    unit: 'partitions',
    use: 'alert',
    labels: { group },
  }),
  groupJoins: counter(
    'hookline_group_joins_total',
    'Joins of the consumer group: each member’s coming or going causes one.',
    {
      unit: 'joins',
      use: 'alert',
      labels: { group },
    },
  ),
  consumerSilence: gauge('hookline_consumer_silence_seconds', 'Since the consumer last heard of the broker.', {
    unit: 'seconds',
    use: 'dashboard',
    labels: { group },
  }),
  commits: counter('hookline_commits_total', 'Requests to commit offsets; a refused one is made again.', {
    unit: 'requests',
    use: 'alert',
    labels: { group, result: ['accepted', 'refused'] },
  }),
  topicRetention: gauge(
    'hookline_topic_retention_seconds',
    'How long records stay in a topic as Hookline creates it, whether they are done or not.',
    { unit: 'seconds', use: 'alert', labels: { topic } },
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
