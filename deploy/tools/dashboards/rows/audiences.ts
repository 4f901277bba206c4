import type { Row } from '../panel.ts'
import { rateBy, series } from '../queries.ts'

/** Syncs of audiences, and what they become. */
export const audiences: Row = {
  title: 'Audiences',
  panels: [
    {
      title: 'Audience inputs',
      description: 'By what they are and what they came to.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('kind, result', 'hookline_audience_inputs_total'), legend: '{{kind}} {{result}}' }],
    },
    {
      title: 'Changes told to destinations',
      description: 'Identify messages written to the events topic, by destination.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [{ expr: rateBy('destination', 'hookline_audience_identifies_total'), legend: '{{destination}}' }],
    },
    {
      title: 'Waiting',
      description: 'Changes that wait for their turn (audiences.emitPerSecond), and inputs not done.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `sum(${series('hookline_audience_identifies_waiting')})`, legend: 'changes' },
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
      title: 'What memberships take in memory',
      description: 'By process.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: series('hookline_audience_memberships_bytes'), legend: '{{instance}}' }],
    },
    {
      title: 'Partitions of audience inputs',
      description: 'Those being restored take nothing yet: ten seconds for two million members.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [{ expr: `sum by (state) (${series('hookline_audience_partitions')})`, legend: '{{state}}' }],
    },
  ],
}
