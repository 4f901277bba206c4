import type { Row } from '../panel.ts'
import { increaseBy, quantilesOf, secondsSince, selector } from '../queries.ts'

export const canaryAndErrors: Row = {
  title: 'Canary messages and internal errors',
  panels: [
    {
      title: 'Canary messages',
      description:
        'Canary messages (test messages of Hookline) within 15 minutes: sent, received by their endpoint, and lost, by reason. not_stored: Kafka did not accept the message. Messages that are neither received nor lost still wait. The panel is 0 without the key "canary" of the configuration.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: increaseBy('', 'hookline_canary_sent_total', '', '15m'), legend: 'sent' },
        { expr: increaseBy('', 'hookline_canary_received_total', '', '15m'), legend: 'received' },
        { expr: increaseBy('reason', 'hookline_canary_lost_total', '', '15m'), legend: 'lost: {{reason}}' },
      ],
    },
    {
      title: 'Time to deliver canary messages',
      description:
        'Time from when a canary message is appended to the events topic until its delivery, including retries. It has no data without the key "canary" of the configuration.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_canary_seconds'),
    },
    {
      title: 'Internal errors',
      description:
        'Requests and records that Hookline could not process because of a bug in Hookline, within an hour. The log has a line of the level error for each of them.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        {
          expr: `sum(${selector('hookline:collector_answers:increase1h', 'code="internal_error"')}) or vector(0)`,
          legend: 'requests of senders',
        },
        {
          expr: `sum(${selector('hookline:webhook_calls:increase1h', 'outcome="internal"')}) or vector(0)`,
          legend: 'requests to webhooks',
        },
        { expr: increaseBy('', 'hookline_record_failures_total', '', '1h'), legend: 'records' },
      ],
      bad: { from: 1 },
    },
  ],
}

export const ledger: Row = {
  title: 'Ledger of the last 24 hours',
  panels: [
    {
      title: 'Deliveries without a result',
      description:
        'Deliveries of the last 24 hours that may be lost: Hookline has neither delivered nor dead-lettered nor dropped them, and they do not wait in a retry topic. Must be 0. The command "hookline ledger" shows their hours and destinations.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `max(${selector('hookline_ledger_difference')})`, legend: 'difference' }],
      bad: { from: 1 },
    },
    {
      title: 'Last reading of the ledger',
      description:
        'Time since the operator service last read the ledger. The service reads it every five minutes. If the time is much longer, the service does not run, or could not read some counts: see the runbook HooklineLedgerDifference.',
      unit: 's',
      as: 'number',
      width: 8,
      queries: [{ expr: `min(${secondsSince('hookline_ledger_read_timestamp_seconds')})`, legend: 'ago' }],
      bad: { from: 900 },
    },
    {
      title: 'Discarded counts of the ledger',
      description:
        'How often a process discarded delivery counts, because it could not write them to the ledger topic in time. Hookline then cannot find lost deliveries of the current hour and all earlier hours. See the runbook HooklineLedgerGaps.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: increaseBy('', 'hookline_ledger_gaps_total'), legend: 'discarded' }],
      bad: { from: 1 },
    },
  ],
}
