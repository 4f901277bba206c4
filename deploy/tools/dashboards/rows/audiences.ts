import type { Row } from '../panel.ts'
import { rateBy, series } from '../queries.ts'

/** Panels of audience syncs and membership updates. */
export const audiences: Row = {
  title: 'Audiences',
  panels: [
    {
      title: 'Audience inputs',
      description: 'Processed audience inputs by kind and result.',
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
        'Membership updates that wait because of audiences.emitPerSecond, and inputs that are not processed.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `sum(${series('hookline_audience_identifies_waiting')})`, legend: 'updates' },
        { expr: `sum(${series('hookline_audience_input_lag_records')})`, legend: 'inputs' },
      ],
    },
    {
      title: 'Memberships',
      description: 'One for each audience, user and destination.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum(${series('hookline_audience_memberships')})`, legend: 'memberships' }],
    },
    {
      title: 'Memory of memberships',
      description: 'Memory that memberships take, by process.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: series('hookline_audience_memberships_bytes'), legend: '{{instance}}' }],
    },
    {
      title: 'Partitions of audience inputs',
      description:
        'Partitions by state. A partition that is being restored processes no inputs; two million memberships take about ten seconds.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (state) (${series('hookline_audience_partitions')})`, legend: '{{state}}' }],
    },
  ],
}
