import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { age, quantilesOf, rateBy, series } from './queries.ts'
import { audiences } from './rows/audiences.ts'

const behind: Row = {
  title: 'How far behind',
  panels: [
    {
      title: 'Lag by topic',
      description: 'Records that are not done. In retry topics most of them are not due yet, which is as it should be.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (topic) (${series('hookline_consumer_lag_records')})`, legend: '{{topic}}' }],
    },
    {
      title: 'Lag of the ten worst partitions',
      description: 'Of the events topic. One far above the others: one key with very many messages, or a slow process.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `topk(10, max by (topic, partition) (${series('hookline_consumer_lag_records', 'topic=~".+[.]events"')}))`,
          legend: '{{partition}}',
        },
      ],
    },
    {
      title: 'Age of the oldest open record',
      description:
        'Since its append, as a share of what its topic keeps. Beyond half somebody is paged: what is deleted before it is done is lost.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      most: 1,
      queries: [
        {
          expr: `max by (topic) (${age('hookline_oldest_open_record_timestamp_seconds')}) / max by (topic) (${series('hookline_topic_retention_seconds')})`,
          legend: '{{topic}}',
        },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Longest standstill',
      description:
        'How long the partition that moved least has stood, though something was due. Beyond 5 minutes somebody is paged.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `max by (topic) (${age('hookline_partition_last_progress_timestamp_seconds')})`, legend: '{{topic}}' },
      ],
      bad: { from: 300 },
    },
    {
      title: 'Open records',
      description: 'Taken up and not done, in memory: by process.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: series('hookline_records_open'), legend: '{{instance}}' }],
    },
    {
      title: 'Open for longest',
      description:
        'Since it was taken up. An attempt takes 5 s at most; many minutes are a bug, or a topic that takes no records.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: series('hookline_oldest_open_record_seconds'), legend: '{{instance}}' }],
    },
  ],
}

const retries: Row = {
  title: 'Retries',
  panels: [
    {
      title: 'Parked',
      description: 'Deliveries written to a retry topic, by how long they wait there.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      isStacked: true,
      queries: [{ expr: rateBy('tier', 'hookline_parked_total'), legend: '{{tier}}' }],
    },
    {
      title: 'Oldest overdue retry',
      description: 'By tier. Retries that wait as scheduled do not count.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: `max by (tier) (${age('hookline_oldest_due_retry_timestamp_seconds')})`, legend: '{{tier}}' }],
      bad: { from: 900 },
    },
    {
      title: 'Retries made late',
      description: 'How long after its time a retry was made. A second is normal.',
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
      description: 'Evenly shared, and all of them somebody’s.',
      unit: 'short',
      as: 'lines',
      width: 8,
      isStacked: true,
      queries: [{ expr: series('hookline_assigned_partitions'), legend: '{{group}} {{instance}}' }],
    },
    {
      title: 'Joins',
      description:
        'Within each interval, the most of any process. A rollout causes some for each pod; else there should be none.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `max by (group) (increase(${series('hookline_group_joins_total')}[$__rate_interval]))`,
          legend: '{{group}}',
        },
      ],
    },
    {
      title: 'Last heard of Kafka',
      description:
        'How long ago, by the process that has waited longest. Half a second is normal; after a minute the process is restarted.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: `max by (group) (${series('hookline_consumer_silence_seconds')})`, legend: '{{group}}' }],
      bad: { from: 60 },
    },
    {
      title: 'Commits',
      description: 'Requests to commit offsets. A refused one is made again.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group, result', 'hookline_commits_total'), legend: '{{group}} {{result}}' }],
    },
    {
      title: 'Records done',
      description: 'And handed back: those of partitions that moved before they were done.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group, end', 'hookline_records_finished_total'), legend: '{{group}} {{end}}' }],
    },
    {
      title: 'Lost to retention',
      description: 'Offsets that were gone before they were read. Must be 0.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `sum by (topic) (increase(${series('hookline_positions_lost_total')}[$__rate_interval]))`,
          legend: '{{topic}}',
        },
      ],
      bad: { from: 1 },
    },
    {
      title: 'Writes that failed',
      description: 'By topic. Each is made again until the topic takes it.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('topic', 'hookline_produce_failures_total'), legend: '{{topic}}' }],
    },
    {
      title: 'Topics that take no records',
      description: 'Whose last write failed, by process. Offsets of their sources wait.',
      unit: 'short',
      as: 'lines',
      width: 12,
      queries: [{ expr: series('hookline_unwritable_topics'), legend: '{{instance}}' }],
      bad: { from: 1 },
    },
  ],
}

export const kafka: Dashboard = {
  uid: 'hookline-kafka',
  title: 'Hookline: Kafka and retries',
  description: 'How far behind partitions and retries are, and whether the consumer groups are at peace.',
  variables: installation,
  rows: [behind, retries, groups, audiences],
}
