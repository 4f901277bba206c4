import { ofAnswers, ofChanges } from '../colours.ts'
import type { Row } from '../panel.ts'
import { age, quantilesOf, rateBy, series } from '../queries.ts'

/** What comes in over HTTP. */
export const collector: Row = {
  title: 'Collector',
  panels: [
    {
      title: 'Answers of the collector',
      description:
        'By code; docs/reference/tracking-api.md says what each means. unavailable is ours, the others are the senders’.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: ofAnswers,
      queries: [{ expr: rateBy('code', 'hookline_collector_answers_total'), legend: '{{code}}' }],
    },
    {
      title: 'Time until stored',
      description:
        'From handing a request’s messages to the producer to the last acknowledgement. Beyond 10 s the request is refused.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_collector_store_seconds'),
      bad: { from: 10 },
    },
    {
      title: 'Memory held by requests',
      description:
        'As a share of what may be held; at the limit senders are told to come back. The highest of all processes.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      most: 1,
      queries: [
        {
          expr: `max by (what) (${series('hookline_collector_held_bytes')} / ${series('hookline_collector_held_bytes_limit')})`,
          legend: '{{what}}',
        },
      ],
      bad: { from: 0.9 },
    },
  ],
}

/** What is configured, and since when. */
export const configuration: Row = {
  title: 'Configuration',
  panels: [
    {
      title: 'Destinations',
      description: 'In the configuration that is in use, by state. Paused ones keep their messages for four hours.',
      unit: 'short',
      as: 'number',
      width: 8,
      queries: [{ expr: `max by (state) (${series('hookline_destinations')})`, legend: '{{state}}' }],
    },
    {
      title: 'Configurations in use',
      description: 'More than one for longer than a moment: some processes have not taken over the last change.',
      unit: 'short',
      as: 'number',
      width: 4,
      queries: [{ expr: `count(count by (hash) (${series('hookline_config_info')}))`, legend: 'configurations' }],
      bad: { from: 2 },
    },
    {
      title: 'In use for',
      description: 'Since the youngest configuration was taken over.',
      unit: 's',
      as: 'number',
      width: 4,
      queries: [{ expr: `min(${age('hookline_config_last_reload_success_timestamp_seconds')})`, legend: 'since' }],
    },
    {
      title: 'Changed files',
      description: 'Changes of the configuration file, taken over or refused, of all processes.',
      unit: 'short',
      as: 'lines',
      width: 8,
      colours: ofChanges,
      queries: [
        {
          expr: `sum by (result) (increase(${series('hookline_config_reloads_total')}[$__rate_interval]))`,
          legend: '{{result}}',
        },
        {
          expr: `min(${series('hookline_config_last_reload_successful')})`,
          legend: 'file is in use (1) or refused (0)',
        },
      ],
    },
  ],
}
