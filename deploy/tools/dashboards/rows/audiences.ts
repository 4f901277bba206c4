import type { Row } from '../panel.ts'
import { rateBy, selector } from '../queries.ts'

export const audiences: Row = {
  title: 'Audiences',
  panels: [
    {
      title: 'Audience inputs',
      description:
        'Processed records of the audience input topic, by kind and result. For example, the kind observed is a user in a synced list, and outcome the result of a delivery. docs/explanation/audiences.md explains all kinds and results.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('kind, result', 'hookline_audience_inputs_total'), legend: '{{kind}} {{result}}' }],
    },
    {
      title: 'Membership updates',
      description: 'Audience membership updates (identify messages) written to the events topic, by destination.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      link: 'destination',
      queries: [{ expr: rateBy('destination', 'hookline_audience_identifies_total'), legend: '{{destination}}' }],
    },
    {
      title: 'Waiting updates and inputs',
      description:
        'Audience membership updates that wait because of the limit audiences.emitPerSecond, and records of the audience input topic that Hookline has not processed yet.',
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
      description: 'Memory that audience memberships take, by process.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('hookline_audience_memberships_bytes'), legend: '{{instance}}' }],
    },
    {
      title: 'Partitions of audience inputs',
      description:
        'Partitions by state. restoring: a process still reads the audience memberships of the partition from Kafka, and processes no records of the partition until it has read them. For two million memberships this takes about ten seconds.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (state) (${selector('hookline_audience_partitions')})`, legend: '{{state}}' }],
    },
  ],
}
