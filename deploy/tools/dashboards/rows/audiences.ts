import type { Row } from '../panel.ts'
import { rateBy, selector } from '../queries.ts'

export const audiences: Row = {
  title: 'Audiences',
  panels: [
    {
      title: 'Audience inputs',
      description:
        'Processed records of the audience input topic (syncs, delivery results, resets and deletions), by kind and result.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('kind, result', 'hookline_audience_inputs_total'), legend: '{{kind}} {{result}}' }],
    },
    {
      title: 'Membership updates',
      description: 'Identify messages written to the events topic, by destination.',
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
        'Partitions by state. A partition that is being restored processes no records; two million memberships take about ten seconds.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (state) (${selector('hookline_audience_partitions')})`, legend: '{{state}}' }],
    },
  ],
}
