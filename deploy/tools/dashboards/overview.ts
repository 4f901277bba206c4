import { deliveryColours, messageColours, outcomeColours } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Panel, Row } from './panel.ts'
import { quantilesOf, rateBy, secondsSince, selector } from './queries.ts'
import { canaryAndErrors, ledger } from './rows/canary-errors-and-ledger.ts'
import { collector, configuration } from './rows/collector-and-configuration.ts'
import { operatorApi } from './rows/operator-api.ts'

const small: readonly Panel[] = [
  {
    title: 'Processes',
    description: 'Hookline processes that Prometheus can scrape. If there are fewer than you deployed, check the pods.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `count(${selector('hookline_build_info')})`, legend: 'processes' }],
    bad: { from: 1, when: 'below' },
  },
  {
    title: 'First attempts within 30 s',
    description:
      'Share of first attempts that began within 30 s of the append to the events topic, in the last hour. The objective is 99.9 % in a month.',
    unit: 'percentunit',
    as: 'number',
    width: 4,
    queries: [{ expr: `1 - ${selector('hookline:first_attempts_late:ratio_rate1h')}`, legend: 'within 30 s' }],
    bad: { from: 0.999, when: 'below' },
  },
  {
    title: 'Lag of the events topic',
    description:
      'Records of the events topic from the oldest unfinished one to the end of each partition. A few hundred are normal under load. The lag must not grow steadily.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `sum(${selector('hookline_consumer_lag_records', 'topic=~".+[.]events"')})`, legend: 'records' }],
    bad: { from: 100_000 },
  },
  {
    title: 'Oldest overdue retry',
    description:
      'Time since the due time of the most overdue retry. An alert fires when this time is longer than 15 minutes, and stays so for 5 minutes.',
    unit: 's',
    as: 'number',
    width: 4,
    queries: [{ expr: `max(${secondsSince('hookline_oldest_due_retry_timestamp_seconds')})`, legend: 'overdue' }],
    bad: { from: 900 },
  },
  {
    title: 'Failing checks',
    description:
      'Failing liveness and readiness checks of all processes. The dashboard "Hookline: runtime" shows which ones.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [{ expr: `count(${selector('hookline_check_ok')} == 0) or vector(0)`, legend: 'checks' }],
    bad: { from: 1 },
  },
  {
    title: 'Firing alerts',
    description: 'Alerts that fire now. Each has a runbook in docs/runbooks.',
    unit: 'short',
    as: 'number',
    width: 4,
    queries: [
      {
        expr: `count(${selector('ALERTS', 'alertname=~"Hookline.*",alertstate="firing"')}) or vector(0)`,
        legend: 'alerts',
      },
    ],
    bad: { from: 1 },
  },
]

const inAndOut: Row = {
  title: 'Throughput and delay',
  panels: [
    {
      title: 'Messages received over HTTP',
      description:
        'Messages by result. accepted: stored in Kafka. suppressed: the user was deleted with the option "suppress", so the collector does not store the message. rejected: the message violates the tracking API; the response named the reason.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: messageColours,
      queries: [{ expr: rateBy('result', 'hookline_collector_messages_total'), legend: '{{result}}' }],
    },
    {
      title: 'Records read',
      description:
        'Records read by each consumer group. dispatcher: records of the events topic. retries: due records of the retry topics. audiences: records of the audience input topic.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('group', 'hookline_records_consumed_total'), legend: '{{group}}' }],
    },
    {
      title: 'Deliveries',
      description:
        'Decisions about deliveries, by result. A record leads to one delivery for each destination. A retried or deferred delivery is counted again at its next decision.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: deliveryColours,
      queries: [{ expr: rateBy('result', 'hookline_deliveries_total'), legend: '{{result}}' }],
    },
    {
      title: 'Delay of first attempts',
      description:
        'Time from the append to the events topic to the first request. A delivery that was deferred first, for example because its destination is paused or slow, counts too.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_first_attempt_delay_seconds'),
      bad: { from: 30 },
    },
    {
      title: 'First attempts after more than 30 s',
      description:
        'Share of first attempts that began more than 30 s after their event was written to the events topic, in the last five minutes and the last hour. The objective allows 0.1 % in a month.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      queries: [
        { expr: selector('hookline:first_attempts_late:ratio_rate5m'), legend: '5 min' },
        { expr: selector('hookline:first_attempts_late:ratio_rate1h'), legend: '1 h' },
      ],
    },
    {
      title: 'Delay of retried deliveries',
      description:
        'Time from the append to the events topic to the delivery, for deliveries that needed more than one attempt. The time depends on the endpoints and can reach four hours.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_retried_delivery_seconds'),
    },
  ],
}

const calls: Row = {
  title: 'Requests to webhooks',
  panels: [
    {
      title: 'Requests by outcome',
      description:
        'Requests of all destinations. If failures rise for all destinations at the same time, check your own network.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      isStacked: true,
      colours: outcomeColours,
      queries: [{ expr: rateBy('outcome', 'hookline_webhook_calls_total'), legend: '{{outcome}}' }],
    },
    {
      title: 'Duration of requests',
      description:
        'Time until the response headers arrive or the request fails. With auth.oauth2, it includes the wait for an access token. A request times out after delivery.timeout (at most 5 s).',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_webhook_call_seconds'),
    },
    {
      title: 'Requests in progress',
      description:
        'Requests in progress in all processes, and their limit. Near the limit, deliveries wait until other requests end.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `sum(${selector('hookline_calls_in_flight')})`, legend: 'in progress' },
        { expr: `sum(${selector('hookline_calls_in_flight_limit')})`, legend: 'limit' },
      ],
    },
  ],
}

export const overview: Dashboard = {
  uid: 'hookline-overview',
  title: 'Hookline: overview',
  description: 'Health, throughput and delay of an installation.',
  variables: installation,
  rows: [
    { title: 'Health', panels: small },
    inAndOut,
    calls,
    canaryAndErrors,
    ledger,
    collector,
    configuration,
    operatorApi,
  ],
}
