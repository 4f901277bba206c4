import { deliveryColours, outcomeColours } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { rateBy, selector } from './queries.ts'

const chosen = 'destination=~"$destination"'

const worstDestinations: Row = {
  title: 'Destinations with the most problems',
  panels: [
    {
      title: 'Failed requests',
      description:
        'Share of failed requests in 15 minutes, for the ten destinations with the highest share. An alert fires after 15 minutes above 50 %, if the destination gets more than ten requests in this time.',
      unit: 'percentunit',
      as: 'lines',
      width: 12,
      max: 1,
      link: 'destination',
      queries: [
        {
          expr: `topk(10, ${selector('hookline:webhook_calls_failed:ratio_rate15m', chosen)})`,
          legend: '{{destination}}',
        },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Requests',
      description: 'Requests per second of the ten busiest destinations.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      link: 'destination',
      queries: [{ expr: `topk(10, ${selector('hookline:webhook_calls:rate15m', chosen)})`, legend: '{{destination}}' }],
    },
    {
      title: 'Circuit breakers',
      description:
        '1 while the circuit breaker of a destination is open. It opens when at least ten attempts end in one minute, and at least 70 % of them fail with a retryable outcome. While it is open, Hookline defers the deliveries, except one probe every 30 s. A probe that succeeds or is rejected closes it.',
      unit: 'short',
      as: 'lines',
      width: 12,
      max: 1,
      link: 'destination',
      queries: [
        { expr: `max by (destination) (${selector('hookline_breaker_open', chosen)})`, legend: '{{destination}}' },
      ],
    },
    {
      title: 'Dead-lettered within an hour',
      description:
        'Dead letters of the last hour, by destination and reason. A dash as the destination means one of three cases: a record of the events topic did not become a delivery, for example because it cannot be decoded; a record of the audience input topic cannot be decoded; or the destination of a record of a retry topic is unknown. The command "hookline dead-letters" lists the dead letters.',
      unit: 'short',
      as: 'table',
      width: 12,
      values: 'dead letters',
      link: 'dead letters',
      queries: [
        {
          expr: `sort_desc(sum by (destination, reason) (${selector('hookline:dead_letters:increase1h', 'destination=~"$destination|-"')}))`,
          legend: '',
        },
      ],
    },
  ],
}

const selectedDestinations: Row = {
  title: 'Selected destinations: $destination',
  panels: [
    {
      title: 'Deliveries',
      description:
        'Decisions about deliveries, by result. retried: scheduled again after a failed attempt. deferred: postponed without an attempt, in a retry topic. dead_lettered: failed permanently. dropped: ended on purpose without a delivery; the panel "Dropped deliveries" shows why.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      isStacked: true,
      colours: deliveryColours,
      queries: [{ expr: rateBy('result', 'hookline_deliveries_total', chosen), legend: '{{result}}' }],
    },
    {
      title: 'Requests by outcome',
      description:
        'timeout: no response within delivery.timeout (at most 5 s). Hookline does not retry http_4xx, http_3xx, tls_untrusted and blocked_address; it retries the other failures.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      isStacked: true,
      colours: outcomeColours,
      queries: [{ expr: rateBy('outcome', 'hookline_webhook_calls_total', chosen), legend: '{{outcome}}' }],
    },
    {
      title: 'Requests by webhook',
      description:
        'Delivered and failed requests of each webhook. A delivery succeeds when one webhook of its destination acknowledges the message.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [
        {
          expr: rateBy('destination, webhook', 'hookline_webhook_calls_total', `${chosen},outcome="delivered"`),
          legend: '{{destination}} {{webhook}} delivered',
        },
        {
          expr: rateBy('destination, webhook', 'hookline_webhook_calls_total', `${chosen},outcome!="delivered"`),
          legend: '{{destination}} {{webhook}} failed',
        },
      ],
    },
    {
      title: 'Dead letters',
      description:
        'Dead letters by reason, including those without a known destination. Kafka keeps them for thirty days. The command "hookline replay" delivers them again.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: rateBy('reason', 'hookline_dead_letters_total', 'destination=~"$destination|-"'),
          legend: '{{reason}}',
        },
      ],
    },
    {
      title: 'Endpoints with 410 Gone',
      description:
        'Requests to which the endpoint responded with 410 Gone, by webhook. Ask the owners whether these endpoints were removed permanently. If so, remove the webhooks from the configuration.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [
        {
          expr: rateBy('destination, webhook', 'hookline_webhooks_gone_total', chosen),
          legend: '{{destination}} {{webhook}}',
        },
      ],
    },
    {
      title: 'Pace after a 429',
      description:
        'When an endpoint responds with 429, the process limits its attempts per second at the destination. A line shows the sum of these limits of all processes. A process lowers its limit after further 429s, and raises it again while the endpoint accepts the requests. After ten minutes without a 429, a process removes its limit. A destination without limits has no line.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [
        { expr: `sum by (destination) (${selector('hookline_destination_pace', chosen)})`, legend: '{{destination}}' },
      ],
    },
    {
      title: 'Pause after a 429 or Retry-After',
      description:
        'Time until Hookline makes the next attempt at a destination whose endpoint responded with 429 or Retry-After, maximum of all processes. A pause lasts at most five minutes. A pause by an operator is not shown.',
      unit: 's',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [
        {
          expr: `max by (destination) (${selector('hookline_destination_paused_seconds', chosen)})`,
          legend: '{{destination}}',
        },
      ],
    },
    {
      title: 'Failed token requests',
      description:
        'Failed requests for OAuth 2.0 access tokens (auth.oauth2), by outcome. While a destination has no access token, its messages wait. The log line "token request failed" has the reason.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [
        {
          expr: rateBy('destination, outcome', 'hookline_token_requests_total', `${chosen},outcome!="issued"`),
          legend: '{{destination}} {{outcome}}',
        },
      ],
    },
  ],
}

const allDestinations: Row = {
  title: 'All destinations',
  panels: [
    {
      title: 'Deferred without an attempt',
      description:
        'lane_full: the queue of the destination is too long, because the endpoint is slow, because a limit of requests in progress is reached, or because the process has no part of policy.ratePerSecond or policy.maxConcurrency. breaker_open: the circuit breaker is open. not_before: the delivery must still wait, for example because of Retry-After. paused: the destination has "paused: true", or Hookline cannot use its configuration. handover: the partition moved to another process. unconfigured: the process does not know the source or destination. auth is an exception: Hookline made an attempt, but got no access token, or the endpoint responded with 401 and may accept a later access token. This attempt uses up no retry.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('cause', 'hookline_deferrals_total'), legend: '{{cause}}' }],
    },
    {
      title: 'Dropped deliveries',
      description:
        'disabled: the destination is disabled. not_selected: the field "integrations" of the message excludes webhooks. filtered: the filter of the destination excludes the message. no_destination: the source is not connected to any destination, or not to the one that the message names. user_deleted: the message was received before its user was deleted. suppressed: the user of the message was deleted with the option "suppress", which drops later messages too.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('reason', 'hookline_drops_total'), legend: '{{reason}}' }],
    },
  ],
}

export const destinations: Dashboard = {
  uid: 'hookline-destinations',
  title: 'Hookline: destinations',
  description: 'Which endpoints fail, why, and what happens to their messages.',
  variables: [...installation, { name: 'destination', label: 'Destination', of: 'hookline_deliveries_total' }],
  rows: [worstDestinations, selectedDestinations, allDestinations],
}
