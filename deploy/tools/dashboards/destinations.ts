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
        '1 while the circuit breaker of a destination is open. It opens if at least ten attempts end within a minute, and at least 70 % of them fail with a retryable outcome. Hookline then makes only one attempt every 30 s, until an attempt succeeds or is rejected.',
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
        'Dead letters of the last hour, by destination and reason. The destination is a dash if it is unknown, for example because the record cannot be decoded. The command "hookline dead-letters" lists the dead letters.',
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
        'Decisions about deliveries, by result. retried: scheduled again after a failed attempt. deferred: postponed without an attempt. dead_lettered: failed permanently. dropped: intentionally not made; the panel "Dropped deliveries" shows why.',
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
        'Finished requests to the selected destinations, by outcome. timeout: no response within delivery.timeout (at most 5 s). Hookline does not retry http_4xx, http_3xx, tls_untrusted and blocked_address; it retries the other failures.',
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
        'Limit of attempts per second at a destination that responded with 429, sum of all processes. A process lowers its limit after further 429s, raises it while the endpoint accepts requests, and removes it after ten minutes without a 429. A destination without limits has no line.',
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
        'Remaining time of the pause after a response with 429 or Retry-After, maximum of all processes. During the pause, Hookline makes no attempts at the destination. The pause is at most five minutes. A pause by an operator is not shown.',
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
        'Deliveries that Hookline moved to a retry topic without an attempt, by cause: for example, the queue of the destination is too long (lane_full), or its circuit breaker is open (breaker_open). Exception: with auth, Hookline made an attempt. docs/reference/errors.md explains all causes.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('cause', 'hookline_deferrals_total'), legend: '{{cause}}' }],
    },
    {
      title: 'Dropped deliveries',
      description:
        'Deliveries that Hookline intentionally did not make, by reason: for example, the destination is disabled (disabled), or its filter excludes the message (filtered). docs/reference/errors.md explains all reasons.',
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
