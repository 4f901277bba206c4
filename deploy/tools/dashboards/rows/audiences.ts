import type { Row } from '../panel.ts'
import { rateBy, selector } from '../queries.ts'

export const audiences: Row = {
  title: 'Audiences',
  panels: [
    {
      title: 'Audience inputs',
      description:
        'Processed records of the audience input topic, by kind and result. observed: a user in a synced list. sync_ended: the end of a list. outcome: the result of a delivery. resend: a replay. reset: a reset of the audience. forgotten: a deletion. A dash: the record could not be decoded.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('kind, result', 'hookline_audience_inputs_total'), legend: '{{kind}} {{result}}' }],
    },
    {
      title: 'Membership updates',
      description: 'Membership updates (identify messages) written to the events topic, by destination.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('destination', 'hookline_audience_identifies_total'), legend: '{{destination}}' }],
    },
    {
      title: 'Waiting updates and inputs',
      description:
        'Membership updates that wait because of audiences.emitPerSecond, and records of the audience input topic that are not processed.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `sum(${selector('hookline_audience_identifies_waiting')})`, legend: 'updates' },
        { expr: `sum(${selector('hookline_audience_input_lag_records')})`, legend: 'inputs' },
      ],
    },
    {
      title: 'Memberships',
      description: 'Memberships in memory: one for each audience, user and destination.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum(${selector('hookline_audience_memberships')})`, legend: 'memberships' }],
    },
    {
      title: 'Memory of memberships',
      description: 'Memory that memberships take, by process.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('hookline_audience_memberships_bytes'), legend: '{{instance}}' }],
    },
    {
      title: 'Partitions of audience inputs',
      description:
        'Partitions by state. restoring: the memberships are still being read from Kafka, and no records of the partition are processed. Reading two million memberships takes about ten seconds.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (state) (${selector('hookline_audience_partitions')})`, legend: '{{state}}' }],
    },
  ],
}
