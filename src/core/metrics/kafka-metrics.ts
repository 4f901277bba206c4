import { counter, gauge, openLabels } from './metric-spec-builders.ts'

const { topic, partition, tier } = openLabels
/**
 * The consumer groups: `dispatcher` reads the events topic, `retries` reads the retry topics, and
 * `audiences` reads audience inputs.
 */
const group = ['dispatcher', 'retries', 'audiences'] as const
export type ConsumerGroupLabel = (typeof group)[number]

export const kafkaMetrics = {
  recordsConsumed: counter(
    'hookline_records_consumed_total',
    'Records that this process read and began to process. A record that is read again, for example after a rebalance, counts again.',
    { unit: 'records', use: 'dashboard', labels: { group } },
  ),
  recordsFinished: counter(
    'hookline_records_finished_total',
    'Records that this process no longer works on. `done`: the processing ended, and Kafka has stored all resulting records, for example a retry. `handed_back`: the partition was revoked before the processing ended. The next owner of the partition reads the record again.',
    { unit: 'records', use: 'dashboard', labels: { group, end: ['done', 'handed_back'] } },
  ),
  recordsOpen: gauge(
    'hookline_records_open',
    'Number of records in progress in this process, from the events topic and the retry topics.',
    {
      unit: 'records',
      use: 'dashboard',
    },
  ),
  oldestOpenSeconds: gauge(
    'hookline_oldest_open_record_seconds',
    'Longest time for which a record of the events topic or a retry topic has been in progress in this process; 0 if no record is in progress.',
    { unit: 'seconds', use: 'dashboard' },
  ),
  oldestRecord: gauge(
    'hookline_oldest_open_record_timestamp_seconds',
    'Append time of the oldest record in progress; the current time if no record is in progress.',
    { unit: 'Unix time', use: 'alert', labels: { topic } },
  ),
  oldestDueRetry: gauge(
    'hookline_oldest_due_retry_timestamp_seconds',
    'Due time of the most overdue retry; the current time when no retry is overdue.',
    { unit: 'Unix time', use: 'alert', labels: { tier } },
  ),
  partitionProgress: gauge(
    'hookline_partition_last_progress_timestamp_seconds',
    'Time at which the partition last made progress. The value is the current time while the partition has no due record, or waits only for a limit (`audiences.emitPerSecond` or a limit of a destination).',
    { unit: 'Unix time', use: 'alert', labels: { topic, partition } },
  ),
  assignedPartitions: gauge('hookline_assigned_partitions', 'Partitions assigned to this process.', {
    unit: 'partitions',
    use: 'alert',
    labels: { group },
  }),
  groupJoins: counter(
    'hookline_group_joins_total',
    'Number of times that this process joined the consumer group. Every change of the group’s members causes a join.',
    {
      unit: 'joins',
      use: 'alert',
      labels: { group },
    },
  ),
  consumerSilence: gauge(
    'hookline_consumer_silence_seconds',
    'Time since the last contact of the consumer with a broker.',
    { unit: 'seconds', use: 'dashboard', labels: { group } },
  ),
  commits: counter('hookline_commits_total', 'Offset commits by result. Hookline repeats a refused commit.', {
    unit: 'requests',
    use: 'alert',
    labels: { group, result: ['accepted', 'refused'] },
  }),
  topicRetention: gauge(
    'hookline_topic_retention_seconds',
    'Retention that Hookline sets when it creates the topic. The real retention differs if somebody changed it. Kafka deletes older records even if Hookline has not processed them.',
    { unit: 'seconds', use: 'alert', labels: { topic } },
  ),
  consumerLag: gauge(
    'hookline_consumer_lag_records',
    'Lag of the partition: number of records from the first unfinished record to the end of the partition.',
    { unit: 'records', use: 'dashboard', labels: { topic, partition } },
  ),
  positionsLost: counter(
    'hookline_positions_lost_total',
    'Offsets that this process skipped because Kafka no longer has their records. If the number of lost records is unknown, for example after an unclean leader election, the value increases only by 1.',
    { unit: 'offsets', use: 'alert', labels: { topic } },
  ),
  produceFailures: counter(
    'hookline_produce_failures_total',
    'Failed writes to Kafka by the collector, the dispatcher and the audiences service. The collector responds to the sender with an error. The other two services repeat the write. Not counted: copies of rejected messages, canary messages, notices, and records of the attempts, status and config topics.',
    { unit: 'writes', use: 'dashboard', labels: { topic } },
  ),
  unwritableTopics: gauge(
    'hookline_unwritable_topics',
    'Topics to which this process cannot write now. The process repeats the failed writes. Until they succeed, it does not commit the offsets of the consumed records that need these writes.',
    { unit: 'topics', use: 'alert' },
  ),
} as const
