import { changeColours, responseColours } from '../colours.ts'
import type { Row } from '../panel.ts'
import { quantilesOf, rateBy, secondsSince, selector } from '../queries.ts'

export const collector: Row = {
  title: 'Collector',
  panels: [
    {
      title: 'Responses of the collector',
      description:
        'Responses by code, see docs/reference/tracking-api.md. Hookline causes unavailable and internal_error; the senders cause the others.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: responseColours,
      queries: [{ expr: rateBy('code', 'hookline_collector_answers_total'), legend: '{{code}}' }],
    },
    {
      title: 'Time to store messages',
      description:
        'Time until Kafka has acknowledged all messages of a request. After 10 s the collector refuses the request.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_collector_store_seconds'),
      bad: { from: 10 },
    },
    {
      title: 'Memory of requests',
      description:
        'Memory of requests as a share of its limit, maximum of all processes. At the limit, the collector refuses requests with a Retry-After.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      max: 1,
      queries: [
        {
          expr: `max by (what) (${selector('hookline_collector_held_bytes')} / ${selector('hookline_collector_held_bytes_limit')})`,
          legend: '{{what}}',
        },
      ],
      bad: { from: 0.9 },
    },
  ],
}

export const configuration: Row = {
  title: 'Configuration',
  panels: [
    {
      title: 'Destinations',
      description:
        'Destinations of the current configuration by state. Messages of a paused destination wait for up to four hours.',
      unit: 'short',
      as: 'number',
      width: 8,
      queries: [{ expr: `max by (state) (${selector('hookline_destinations')})`, legend: '{{state}}' }],
    },
    {
      title: 'Configurations in use',
      description:
        'Number of different configurations. If it stays above one, some processes have not applied the last change.',
      unit: 'short',
      as: 'number',
      width: 4,
      queries: [{ expr: `count(count by (hash) (${selector('hookline_config_info')}))`, legend: 'configurations' }],
      bad: { from: 2 },
    },
    {
      title: 'Age of the configuration',
      description: 'Time since the newest configuration was applied.',
      unit: 's',
      as: 'number',
      width: 4,
      queries: [
        { expr: `min(${secondsSince('hookline_config_last_reload_success_timestamp_seconds')})`, legend: 'age' },
      ],
    },
    {
      title: 'Configuration reloads',
      description: 'Reloads of a changed configuration file by result, all processes together.',
      unit: 'short',
      as: 'lines',
      width: 8,
      colours: changeColours,
      queries: [
        {
          expr: `sum by (result) (increase(${selector('hookline_config_reloads_total')}[$__rate_interval]))`,
          legend: '{{result}}',
        },
        {
          expr: `min(${selector('hookline_config_last_reload_successful')})`,
          legend: 'file is in use (1) or refused (0)',
        },
      ],
    },
  ],
}
