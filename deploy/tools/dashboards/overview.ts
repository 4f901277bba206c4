import { ofDeliveries, ofMessages, ofOutcomes } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Panel, Row } from './panel.ts'
import { age, quantilesOf, rateBy, series } from './queries.ts'
import { collector, configuration } from './rows/input.ts'

const small: readonly Panel[] = [
  {
    title: 'Processes',
    description: 'Processes that answer the scrape. Fewer than there should be: look at the pods.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `count(${series('hookline_build_info')})`, legend: 'processes' }],
    bad: { from: 1, when: 'below' },
  },
  {
    title: 'First attempts within 30 s',
    description: 'Of the last hour. The promise is 99.9 % within a month.',
    unit: 'percentunit',
    as: 'number',
    width: 4,
    queries: [{ expr: `1 - ${series('hookline:first_attempts_late:ratio_rate1h')}`, legend: 'in time' }],
    bad: { from: 0.999, when: 'below' },
  },
  {
    title: 'Lag of the events topic',
    description: 'Records that are in Kafka and not done. Some hundreds are normal under load; it must not grow.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `sum(${series('hookline_consumer_lag_records', 'topic=~".+[.]events"')})`, legend: 'records' }],
    bad: { from: 100_000 },
  },
  {
    title: 'Oldest overdue retry',
    description: 'Retries that wait as scheduled do not count. Beyond 15 minutes somebody is paged.',
    unit: 's',
    as: 'number',
    width: 4,
    queries: [{ expr: `max(${age('hookline_oldest_due_retry_timestamp_seconds')})`, legend: 'late' }],
    bad: { from: 900 },
  },
  {
    title: 'Checks that fail',
    description: 'Of all processes’ probes, live and ready. Which ones: the dashboard Runtime.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `count(${series('hookline_check_ok')} == 0) or vector(0)`, legend: 'checks' }],
    bad: { from: 1 },
  },
  {
    title: 'Alerts that fire',
    description: 'Each has a page in docs/runbooks.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [
      {
        expr: `count(${series('ALERTS', 'alertname=~"Hookline.*",alertstate="firing"')}) or vector(0)`,
        legend: 'alerts',
      },
    ],
    bad: { from: 1 },
  },
]

const inAndOut: Row = {
  title: 'In and out',
  panels: [
    {
      title: 'Messages over HTTP',
      description:
        'By what became of them. Rejected ones break a rule of the tracking API; their senders were told which.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: ofMessages,
      queries: [{ expr: rateBy('result', 'hookline_collector_messages_total'), legend: '{{result}}' }],
    },
    {
      title: 'Records taken up',
      description: 'From the events topic (dispatcher), and from retry topics when they were due (retries).',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group', 'hookline_records_consumed_total'), legend: '{{group}}' }],
    },
    {
      title: 'Deliveries',
      description:
        'By what became of them: a record comes to one for each of its destinations. Retried and deferred ones come back.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: ofDeliveries,
      queries: [{ expr: rateBy('result', 'hookline_deliveries_total'), legend: '{{result}}' }],
    },
    {
      title: 'First attempt, from the append',
      description:
        'How long messages wait for us: from the append to the events topic to the first call. Endpoints have no part in it.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_first_attempt_delay_seconds'),
      bad: { from: 30 },
    },
    {
      title: 'First attempts later than 30 s',
      description: 'Their share within the last five minutes and hour. 0.1 % is what may be late within a month.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      queries: [
        { expr: series('hookline:first_attempts_late:ratio_rate5m'), legend: '5 min' },
        { expr: series('hookline:first_attempts_late:ratio_rate1h'), legend: '1 h' },
      ],
    },
    {
      title: 'Delivered in the end, from the append',
      description:
        'Deliveries that needed more than one attempt. Endpoints decide how long that takes, up to four hours.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_retried_delivery_seconds'),
    },
  ],
}

const calls: Row = {
  title: 'Calls',
  panels: [
    {
      title: 'Calls by outcome',
      description: 'All destinations. When all outcomes but delivered rise for all of them at once, it is our network.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      isStacked: true,
      colours: ofOutcomes,
      queries: [{ expr: rateBy('outcome', 'hookline_webhook_calls_total'), legend: '{{outcome}}' }],
    },
    {
      title: 'How long calls take',
      description: 'Until the head of the answer, or the end without one. Nothing takes longer than 5 s.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_webhook_call_seconds'),
    },
    {
      title: 'Calls under way',
      description: 'Of all processes, and how many may be. Near the limit deliveries wait for a place.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `sum(${series('hookline_calls_in_flight')})`, legend: 'under way' },
        { expr: `sum(${series('hookline_calls_in_flight_limit')})`, legend: 'limit' },
      ],
    },
  ],
}

export const overview: Dashboard = {
  uid: 'hookline-overview',
  title: 'Hookline: overview',
  description: 'Is it well, how much goes in and out, and how late?',
  variables: installation,
  rows: [{ title: 'Is it well?', panels: small }, inAndOut, calls, collector, configuration],
}
