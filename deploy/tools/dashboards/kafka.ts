import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { increaseBy, quantilesOf, rateBy, secondsSince, selector } from './queries.ts'
import { audiences } from './rows/audiences.ts'

const backlog: Row = {
  title: 'Backlog',
  panels: [
    {
      title: 'Lag by topic',
      description:
        'Records from the oldest unfinished one to the end of each partition. Most records of the retry topics are not due yet, which is normal.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (topic) (${selector('hookline_consumer_lag_records')})`, legend: '{{topic}}' }],
    },
    {
      title: 'Partitions with the most lag',
      description:
        'The ten partitions of the events topic with the most lag. If one partition is far above the others, it has a key with too many messages, or its process is slow.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `topk(10, max by (topic, partition) (${selector('hookline_consumer_lag_records', 'topic=~".+[.]events"')}))`,
          legend: '{{partition}}',
        },
      ],
    },
    {
      title: 'Age of the oldest record in progress',
      description:
        'Time since the append of the oldest record in progress, as a share of the topic’s retention. After 10 minutes above 50 % an alert fires, because Kafka may delete the record before Hookline has processed it.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      max: 1,
      queries: [
        {
          expr: `max by (topic) (${secondsSince('hookline_oldest_open_record_timestamp_seconds')}) / max by (topic) (${selector('hookline_topic_retention_seconds')})`,
          legend: '{{topic}}',
        },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Longest time without progress',
      description:
        'Longest time for which a partition with due records made no progress. An alert fires when this time is longer than 5 minutes, and stays so for 5 minutes.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `max by (topic) (${secondsSince('hookline_partition_last_progress_timestamp_seconds')})`,
          legend: '{{topic}}',
        },
      ],
      bad: { from: 300 },
    },
    {
      title: 'Records in progress',
      description: 'Number of records in progress in each process, from the events topic and the retry topics.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('hookline_records_open'), legend: '{{instance}}' }],
    },
    {
      title: 'Longest time in progress',
      description:
        'Longest time for which a record of the events topic or a retry topic has been in progress, by process. If it is many minutes, the record waits for a limit of its destination, the process waits for Kafka or the schema registry (see /livez?verbose), or Hookline has a bug.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('hookline_oldest_open_record_seconds'), legend: '{{instance}}' }],
    },
  ],
}

const retries: Row = {
  title: 'Retries',
  panels: [
    {
      title: 'Written to retry topics',
      description: 'Deliveries written to retry topics per second, by tier: how long a record waits in the topic.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      isStacked: true,
      queries: [{ expr: rateBy('tier', 'hookline_parked_total'), legend: '{{tier}}' }],
    },
    {
      title: 'Oldest overdue retry',
      description: 'Time since the due time of the most overdue retry, by tier. Retries that are not due do not count.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `max by (tier) (${secondsSince('hookline_oldest_due_retry_timestamp_seconds')})`, legend: '{{tier}}' },
      ],
      bad: { from: 900 },
    },
    {
      title: 'Delay of retries',
      description: 'Time from the due time of a retry to its attempt. One second is normal.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_retry_lateness_seconds'),
    },
  ],
}

const groups: Row = {
  title: 'Consumer groups',
  panels: [
    {
      title: 'Partitions by process',
      description:
        'Partitions that each process owns. Each partition should have an owner, and all processes of a group about the same number.',
      unit: 'short',
      as: 'lines',
      width: 8,
      isStacked: true,
      queries: [{ expr: selector('hookline_assigned_partitions'), legend: '{{group}} {{instance}}' }],
    },
    {
      title: 'Group joins',
      description:
        'How often a process joined the consumer group in each interval, maximum of all processes. A rollout causes a few joins for each pod. Otherwise there should be none.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `max by (group) (increase(${selector('hookline_group_joins_total')}[$__rate_interval]))`,
          legend: '{{group}}',
        },
      ],
    },
    {
      title: 'Time since last broker contact',
      description:
        'Time since a broker last responded to a consumer, maximum of all processes. Half a second is normal. After one minute the process is not ready.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: `max by (group) (${selector('hookline_consumer_silence_seconds')})`, legend: '{{group}}' }],
      bad: { from: 60 },
    },
    {
      title: 'Commits',
      description: 'Offset commits by result. Hookline repeats a refused commit.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group, result', 'hookline_commits_total'), legend: '{{group}} {{result}}' }],
    },
    {
      title: 'Records done',
      description:
        'Records that a process no longer works on. done: the processing ended. handed_back: the partition was revoked before the processing ended. The next owner of the partition reads the record again.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group, end', 'hookline_records_finished_total'), legend: '{{group}} {{end}}' }],
    },
    {
      title: 'Records lost',
      description:
        'Offsets skipped because Kafka no longer has their records. Must be 0. If the number of lost records is unknown, for example after an unclean leader election, the loss counts as 1.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: increaseBy('topic', 'hookline_positions_lost_total'), legend: '{{topic}}' }],
      bad: { from: 1 },
    },
    {
      title: 'Failed writes',
      description:
        'Failed writes to Kafka by the collector (accepted messages only), the dispatcher and the audiences service, by topic. The collector responds to the sender with an error; the other two services repeat the write.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('topic', 'hookline_produce_failures_total'), legend: '{{topic}}' }],
    },
    {
      title: 'Topics with failing writes',
      description:
        'Topics to which a process cannot write now, by process. Hookline repeats the failed writes. Until they succeed, it does not commit the offsets of the consumed records that need these writes.',
      unit: 'short',
      as: 'lines',
      width: 12,
      queries: [{ expr: selector('hookline_unwritable_topics'), legend: '{{instance}}' }],
      bad: { from: 1 },
    },
  ],
}

export const kafka: Dashboard = {
  uid: 'hookline-kafka',
  title: 'Hookline: Kafka and retries',
  description: 'Backlog of partitions and retries, and stability of the consumer groups.',
  variables: installation,
  rows: [backlog, retries, groups, audiences],
}
