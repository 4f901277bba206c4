import { ofDeliveries, ofOutcomes } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { rateBy, series } from './queries.ts'

const chosen = 'destination=~"$destination"'

const which: Row = {
  title: 'Which ones',
  panels: [
    {
      title: 'Share of calls that fail',
      description: 'The ten worst within fifteen minutes. More than half, and their owners are told.',
      unit: 'percentunit',
      as: 'lines',
      width: 12,
      most: 1,
      queries: [
        {
          expr: `topk(10, ${series('hookline:webhook_calls_failed:ratio_rate15m', chosen)})`,
          legend: '{{destination}}',
        },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Calls',
      description: 'The ten with most.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: `topk(10, ${series('hookline:webhook_calls:rate15m', chosen)})`, legend: '{{destination}}' }],
    },
    {
      title: 'Breakers',
      description:
        '1 while a destination is not attempted because nearly all of its deliveries fail: its messages are parked, and one in 30 s tries whether it is well.',
      unit: 'short',
      as: 'lines',
      width: 12,
      most: 1,
      queries: [
        { expr: `max by (destination) (${series('hookline_breaker_open', chosen)})`, legend: '{{destination}}' },
      ],
    },
    {
      title: 'Given up within an hour',
      description:
        'Dead letters, by destination and reason; - where none could be made out. hookline dead-letters lists them.',
      unit: 'short',
      as: 'table',
      width: 12,
      values: 'dead letters',
      queries: [
        {
          expr: `sort_desc(sum by (destination, reason) (${series('hookline:dead_letters:increase1h', 'destination=~"$destination|-"')}))`,
          legend: '',
        },
      ],
    },
  ],
}

const what: Row = {
  title: 'What becomes of their messages: $destination',
  panels: [
    {
      title: 'Deliveries',
      description:
        'retried: comes back after a wait. deferred: parked without an attempt. dead_lettered: given up. dropped: rightly not made.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      isStacked: true,
      colours: ofDeliveries,
      queries: [{ expr: rateBy('result', 'hookline_deliveries_total', chosen), legend: '{{result}}' }],
    },
    {
      title: 'Calls by outcome',
      description:
        'timeout: no answer within 5 s. http_4xx, http_3xx, tls_untrusted and blocked_address are not tried again, the others are.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      isStacked: true,
      colours: ofOutcomes,
      queries: [{ expr: rateBy('outcome', 'hookline_webhook_calls_total', chosen), legend: '{{outcome}}' }],
    },
    {
      title: 'Calls by webhook',
      description: 'One success of any webhook of a destination is enough for a message.',
      unit: 'cps',
      as: 'lines',
      width: 8,
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
      description: 'Given up, by reason. They stay for thirty days, and hookline replay puts them back.',
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
      title: 'Endpoints that are gone',
      description: 'Calls answered 410. Such a webhook should be taken out of the configuration.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: rateBy('destination, webhook', 'hookline_webhooks_gone_total', chosen),
          legend: '{{destination}} {{webhook}}',
        },
      ],
    },
  ],
}

const all: Row = {
  title: 'All destinations together',
  panels: [
    {
      title: 'Parked without an attempt',
      description:
        'lane_full: slower than what comes. breaker_open: nearly all fails. not_before: it asked for a wait. paused: by the configuration. handover: its partition moved. unconfigured: not configured yet.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('cause', 'hookline_deferrals_total'), legend: '{{cause}}' }],
    },
    {
      title: 'Rightly not delivered',
      description: 'By the configuration, by the message’s own integrations, or because the user was deleted.',
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
  description: 'Which customers’ endpoints fail, how, and what becomes of their messages.',
  variables: [...installation, { name: 'destination', label: 'Destination', of: 'hookline_deliveries_total' }],
  rows: [which, what, all],
}
