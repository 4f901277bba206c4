import type { Row } from '../panel.ts'
import { increaseBy, quantilesOf, secondsSince, selector } from '../queries.ts'

export const canaryAndErrors: Row = {
  title: 'Canary messages and internal errors',
  panels: [
    {
      title: 'Canary messages',
      description:
        'Canary messages (test messages of Hookline) within 15 minutes: sent, received by their endpoint, and lost, by reason. The panel is 0 without the key "canary" of the configuration. If fewer are received than sent, and none is lost, the others still wait. not_stored: Kafka did not accept the message. dead_lettered: the endpoint failed. dropped: the destination is disabled.',
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
        'Time from the append of a canary message to its delivery, including retries. It has no data without the key "canary" of the configuration.',
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
        'Deliveries that may be lost: Hookline has neither delivered nor dead-lettered nor dropped them, and they do not wait in a retry topic. Must be 0. The number includes events that were appended in the last 24 hours and that the dispatchers have read. The command "hookline ledger" shows their hours and destinations.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `max(${selector('hookline_ledger_difference')})`, legend: 'difference' }],
      bad: { from: 1 },
    },
    {
      title: 'Last reading of the ledger',
      description:
        'Time since the operator service last read the ledger. The service reads it every five minutes. If the time is much longer, the service does not run, or could not read all counts: see the runbook HooklineLedgerDifference.',
      unit: 's',
      as: 'number',
      width: 8,
      queries: [{ expr: `min(${secondsSince('hookline_ledger_read_timestamp_seconds')})`, legend: 'ago' }],
      bad: { from: 900 },
    },
    {
      title: 'Discarded counts of the ledger',
      description:
        'How often a process discarded the delivery counts of a partition, because it could not write them to the ledger topic in time. The ledger (the numbers of deliveries by hour) is then incomplete for the current hour and all earlier hours, so Hookline cannot find further lost deliveries of these hours. The number increases at most once an hour for each partition. See the runbook HooklineLedgerGaps.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: increaseBy('', 'hookline_ledger_gaps_total'), legend: 'discarded' }],
      bad: { from: 1 },
    },
  ],
}
